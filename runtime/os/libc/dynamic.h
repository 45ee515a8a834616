/* SPDX-License-Identifier: MIT */
/*
 * os/libc/dynamic.h - the entries of a library's dynamic section, where it lies in memory
 *
 * No function of libc's may be called here: os/libc/libc.c says why.
 */
#ifndef WEFT_OS_LIBC_DYNAMIC_H
#define WEFT_OS_LIBC_DYNAMIC_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

/* The first entry of that tag. NULL: there is none. */
static inline const ElfW(Dyn) *wefti_dynamic_find(const ElfW(Dyn) *d, ElfW(Sxword) tag)
{
	for (; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return d;
	return NULL;
}

/* 0: there is no such entry. */
static inline uintptr_t wefti_dynamic_number(const ElfW(Dyn) *d, ElfW(Sxword) tag)
{
	const ElfW(Dyn) *found = wefti_dynamic_find(d, tag);

	return found ? found->d_un.d_val : 0;
}

/*
 * NULL: there is no such entry. The loader has made most entries addresses, but not those of
 * each library. The others are offsets from the library's base.
 */
static inline const void *wefti_dynamic_table(uintptr_t base, const ElfW(Dyn) *d,
					      ElfW(Sxword) tag)
{
	const uintptr_t at = wefti_dynamic_number(d, tag);

	return (const void *)(at && at < base ? base + at : at);
}

#endif
