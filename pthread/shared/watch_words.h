/* SPDX-License-Identifier: MIT */
/* pthread/shared/watch_words.h - a kernel thread sleeps on many words */
#ifndef WEFT_PTHREAD_SHARED_WATCH_WORDS_H
#define WEFT_PTHREAD_SHARED_WATCH_WORDS_H

#include "lockfree/atomic.h"
#include "os/call/newer.h"

#define WEFTI_WORDS	128	/* the kernel's limit */

struct wefti_words {
	unsigned count;
	struct futex_waitv of[WEFTI_WORDS];
};

/* 0: the kernel has no futex_waitv(), as before Linux 5.16 and in some emulators. */
int wefti_words_can_sleep(void);

static inline void wefti_words_add(struct wefti_words *all,
				   _Atomic uint32_t *word, uint32_t value,
				   int is_private)
{
	all->of[all->count++] = (struct futex_waitv){
		.uaddr = (uintptr_t)word, .val = value,
		.flags = FUTEX_32 | (is_private ? FUTEX_PRIVATE_FLAG : 0),
	};
}

static inline _Atomic uint32_t *wefti_words_get(const struct wefti_words *all,
						unsigned i)
{
	return (_Atomic uint32_t *)(uintptr_t)all->of[i].uaddr;
}

/*
 * Sleeps while all words have their values. Returns 1: one or more words were woken; 0:
 * none was, because a word had another value, or for no reason; -1: it can no longer
 * sleep.
 */
int wefti_words_sleep(struct wefti_words *all);

#endif
