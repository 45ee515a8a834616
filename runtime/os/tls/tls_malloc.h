/* SPDX-License-Identifier: MIT */
/*
 * os/tls/tls_malloc.h - what malloc has in a thread's TLS, and the number of arenas
 *
 * malloc's cache cannot be flushed from outside. A block that is reset keeps its cache.
 * The cache of a block that is destroyed is kept for the next block that is built.
 *
 * The same holds for getrandom()'s state, so the word for it is one of the words here.
 */
#ifndef WEFT_OS_TLS_TLS_MALLOC_H
#define WEFT_OS_TLS_TLS_MALLOC_H

#include <stdint.h>

#include "os/tls/tls_layout.h"

struct wefti_tls_malloc;

static inline uintptr_t *wefti_tls_malloc_word(uintptr_t tp, unsigned i)
{
	return (uintptr_t *)(tp + (uintptr_t)wefti_tls_layout.tls_malloc[i]);
}

/*
 * A handler may have left getrandom() by a jump, or ended the thread. The state would
 * stay taken, and each later call in the block would be a system call.
 */
static inline void wefti_tls_release_random(uintptr_t tp)
{
	const ptrdiff_t at = wefti_tls_layout.tls_random;
	uintptr_t *word = (uintptr_t *)(tp + (uintptr_t)at);

	if (at && (*word & WEFTI_TLS_RANDOM_TAKEN))
		*word -= WEFTI_TLS_RANDOM_TAKEN;
}

/*
 * Sets how many arenas malloc may make, unless the environment says. Threads take arenas
 * in turns. So with libc's limit of 8 for each CPU, the memory of successive threads
 * would be far apart. At most as many threads as there are VCPUs are inside malloc at a
 * time. If some hang there, the next caller needs an arena that is not locked.
 */
void wefti_tls_malloc_arenas(unsigned most);

/* NULL: the thread has no cache, or there is no memory and the cache is lost. */
struct wefti_tls_malloc *wefti_tls_malloc_of(uintptr_t tp);

/* Makes the thread as it was before its first malloc. */
void wefti_tls_malloc_none(uintptr_t tp);

/* Called under glibc's lock of stacks. NULL: none. */
void wefti_tls_malloc_keep(struct wefti_tls_malloc *left);
struct wefti_tls_malloc *wefti_tls_malloc_kept(void);

/* left NULL: does nothing. */
void wefti_tls_malloc_adopt(uintptr_t tp, struct wefti_tls_malloc *left);

#endif
