/* SPDX-License-Identifier: MIT */
/*
 * pthread/shared/watch.h - green threads wait for words that other processes wake
 *
 * The threads park in the lot, as they do for words of their own process. One kernel
 * thread of the process, the watcher, waits in the kernel for all those words.
 */
#ifndef WEFT_PTHREAD_SHARED_WATCH_H
#define WEFT_PTHREAD_SHARED_WATCH_H

#include <stdint.h>

#include "lockfree/atomic.h"

/* How the watcher sees in a word whether its waiting threads have to go on waiting. */
enum wefti_watch_kind {
	WEFTI_WATCH_LOCK,	/* 2, apart from a ceiling: its owner will wake */
	WEFTI_WATCH_ROBUST,	/* an owner and FUTEX_WAITERS: its owner will wake */
	WEFTI_WATCH_COND,	/* the word is the first of the two below */
};

/* The words of a condition variable, in this order. */
struct wefti_watch_cond {
	_Atomic uint32_t signals;	/* a broadcast counts here too, after the other */
	_Atomic uint32_t broadcasts;
};

struct wefti_watch;

/*
 * Called before the caller waits in the lot at word, and before it gives up what keeps
 * others from waking. NULL: the caller has to wait in the kernel itself, because it is
 * not a green thread, or there is no watcher (before Linux 5.16), or the table is full.
 */
struct wefti_watch *wefti_watch_begin(_Atomic uint32_t *word,
				      enum wefti_watch_kind kind);

/* For the lot's wait: the count it keeps, and what to call when the caller is queued. */
_Atomic uint32_t *wefti_watch_count(struct wefti_watch *w);
void wefti_watch_queued(struct wefti_watch *w);

/*
 * The caller no longer waits. To be called before it runs a handler. If the caller was
 * woken at a lock, it has to look at the word again first.
 */
void wefti_watch_end(struct wefti_watch *w);

/*
 * Wakes one thread of this process that waits at word. Returns 0: the caller has to ask
 * the kernel, since no thread waits here, or it is the other processes' turn. Does not
 * touch the word.
 */
int wefti_watch_wake(const _Atomic uint32_t *word);

/* Wakes the threads of this process that the condition variable's words let go on. */
void wefti_watch_serve(const _Atomic uint32_t *word);

/* 1: there is a watcher, or will be. 0: a waiting thread has to call end; see begin. */
int wefti_watcher_runs(void);

/* Called by the receiver of signals: creates the watcher if one is wanted. */
void wefti_watcher_make(void);

void wefti_watch_forget(void);	/* in the child of a fork */

#endif
