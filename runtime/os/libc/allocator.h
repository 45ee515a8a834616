/* SPDX-License-Identifier: MIT */
/*
 * os/libc/allocator.h - whose malloc() the program has
 *
 * libc's malloc() keeps a few words for each thread. Other allocators keep more, and give
 * it back by the destructor of a key (pthread_key_create()). The allocators that are
 * known here do no more than that. Their code's address range tells whether a thread is
 * inside.
 */
#ifndef WEFT_OS_LIBC_ALLOCATOR_H
#define WEFT_OS_LIBC_ALLOCATOR_H

#include <stdint.h>

enum wefti_os_allocator {
	WEFTI_ALLOCATOR_LIBC,
	WEFTI_ALLOCATOR_KNOWN,	/* jemalloc, tcmalloc, mimalloc, in a library */
	WEFTI_ALLOCATOR_OTHER,	/* among them one that is a part of the program */
};

/*
 * A layer above makes a known allocator work: it runs destructors of keys, and makes the
 * allocator's locks the kernel's. Set before wefti_tls_init().
 */
extern int wefti_os_allocator_is_served;

/* Is that the file of a library that is known? */
int wefti_os_allocator_is_known(const char *path);

/* *base, where its object begins. Takes the loader's lock. */
enum wefti_os_allocator wefti_os_allocator_find(uintptr_t *base);

#endif
