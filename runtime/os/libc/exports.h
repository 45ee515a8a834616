/* SPDX-License-Identifier: MIT */
/* os/libc/exports.h - the functions and objects that a library exports */
#ifndef WEFT_OS_LIBC_EXPORTS_H
#define WEFT_OS_LIBC_EXPORTS_H

#include <link.h>
#include <stdint.h>

/* The tables of one library, where they lie in memory. */
struct wefti_exports {
	uintptr_t base;
	const uint32_t *hash;
	const ElfW(Sym) *symbols;
	const char *strings;
	const ElfW(Half) *versions;	/* NULL: there are none */
	const char *soname;
};

/* Neither of them locks or allocates, or calls a function of libc's. */
struct wefti_exports wefti_exports_read(uintptr_t base, const ElfW(Dyn) *dynamic);

/* The definition for new programs. NULL: there is none. */
const ElfW(Sym) *wefti_exports_find(const struct wefti_exports *e, const char *name);

#endif
