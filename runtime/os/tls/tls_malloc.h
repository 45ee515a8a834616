/* SPDX-License-Identifier: MIT */
/*
 * os/tls/tls_malloc.h - what malloc has in a thread's TLS, and how many arenas
 *
 * Its cache cannot be flushed from outside. A block that is reset keeps it;
 * that of a block that is destroyed waits for the next one that is built.
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
 * How many arenas malloc may make, unless the environment says. Threads take them
 * in turns, so with libc's 8 a CPU what one thread after the other allocates is
 * far apart. As many threads as there are VCPUs are inside malloc at a time; whoever
 * comes first while some hang there (an observer who loads libunwind) wants one
 * that is not locked.
 */
void wefti_tls_malloc_arenas(unsigned most);

/* NULL: it has nothing, or there is no memory and its cache is lost. */
struct wefti_tls_malloc *wefti_tls_malloc_of(uintptr_t tp);

/* As before the first malloc. */
void wefti_tls_malloc_none(uintptr_t tp);

/* Under glibc's lock of stacks; NULL is none. */
void wefti_tls_malloc_keep(struct wefti_tls_malloc *left);
struct wefti_tls_malloc *wefti_tls_malloc_kept(void);

/* NULL: nothing happens. */
void wefti_tls_malloc_adopt(uintptr_t tp, struct wefti_tls_malloc *left);

#endif
