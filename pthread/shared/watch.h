/* SPDX-License-Identifier: MIT */
/*
 * pthread/shared/watch.h - green threads wait for words that other processes wake
 *
 * They park in the lot as for words of their own. One kernel thread of the
 * process, the watcher, waits in the kernel for all those words in their stead.
 */
#ifndef WEFT_PTHREAD_SHARED_WATCH_H
#define WEFT_PTHREAD_SHARED_WATCH_H

#include <stdint.h>

#include "lockfree/atomic.h"

/* How it is seen in a word whether those who wait for it may go on waiting. */
enum wefti_watch_kind {
	WEFTI_WATCH_LOCK,	/* 2, beside a ceiling: its owner will wake */
	WEFTI_WATCH_ROBUST,	/* the same: an owner, and FUTEX_WAITERS */
	WEFTI_WATCH_COND,	/* the first of the two below */
};

/* Of a condition variable, in this order. */
struct wefti_watch_cond {
	_Atomic uint32_t signals;	/* and broadcasts, after the other */
	_Atomic uint32_t broadcasts;
};

struct wefti_watch;

/*
 * The caller is about to wait in the lot, at word: before it gives up what
 * keeps others from waking. NULL: it waits in the kernel itself, as it is not a
 * green thread, or there is no watcher (before Linux 5.16), or it has no room.
 */
struct wefti_watch *wefti_watch_begin(_Atomic uint32_t *word,
				      enum wefti_watch_kind kind);

/* For the lot's wait: its count; to be called when the caller is in the queue. */
_Atomic uint32_t *wefti_watch_count(struct wefti_watch *w);
void wefti_watch_queued(struct wefti_watch *w);

/*
 * The caller does not wait any more, before it runs a handler; of a lock, after
 * it has looked at the word again if it was woken.
 */
void wefti_watch_end(struct wefti_watch *w);

/*
 * Wakes one that waits at word in this process. Returns 0: the kernel has to be
 * asked to wake one, since nobody waits here, or it is the others' turn. Does
 * not touch the word.
 */
int wefti_watch_wake(const _Atomic uint32_t *word);

/* Those of this process that the condition variable's words let go on. */
void wefti_watch_serve(const _Atomic uint32_t *word);

/* There is a watcher, or will be. 0: who waits has to end that, see begin. */
int wefti_watcher_runs(void);

/* The receiver of signals makes the watcher if it is to. */
void wefti_watch_look(void);

void wefti_watch_forget(void);	/* in the child of a fork */

#endif
