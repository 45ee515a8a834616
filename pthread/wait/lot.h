/* SPDX-License-Identifier: MIT */
/*
 * pthread/wait/lot.h - threads wait at an address, until they are woken there
 *
 * What a futex is to kernel threads, for all: a green thread parks, any other
 * kernel thread (and one that is inside the runtime) sleeps. glibc's objects
 * keep their layout; only who waits for them is kept here.
 */
#ifndef WEFT_PTHREAD_WAIT_LOT_H
#define WEFT_PTHREAD_WAIT_LOT_H

#include "base/compiler.h"
#include "lockfree/atomic.h"
#include "thread/thread.h"

enum wefti_lot_end {
	WEFTI_LOT_CHANGED,	/* the check said no: did not wait */
	WEFTI_LOT_WOKEN,
	WEFTI_LOT_HANDED,	/* woken, and owner of the lock; see unlock */
	WEFTI_LOT_TIMEDOUT,
	WEFTI_LOT_INTERRUPTED,	/* see pthread/core/self.h: urgent */
};

#define WEFTI_LOT_ANY	UINT32_MAX

struct wefti_lot_wait {
	const void *key;
	/* Whether to wait; nobody is woken at key meanwhile. NULL: yes. */
	int (*check)(void *arg);
	/* Called when the caller is in the queue; may wake others. NULL: no. */
	void (*queued)(void *arg);
	void *arg;
	int64_t deadline;		/* CLOCK_MONOTONIC; INT64_MAX: none */
	_Atomic uint32_t *count;	/* of those in the queue; may be NULL */
	uint32_t bits;			/* for wake; 0: any */
	uint32_t urgent;		/* what interrupts it: WEFTI_URGENT_* */
	enum wefti_why why;
	const struct wefti_thread *joins;	/* of WEFTI_WHY_JOIN; NULL: all others */
};

/*
 * May park. Of those at a key the one of the highest real-time priority is woken
 * first, among equals the oldest.
 *
 * A signal that was sent before the wake-up is handled before the caller's own call
 * returns: the caller looks for it (wefti_signals_look()), however the wait ended.
 * Not in here: a handler may jump out of the call, and must find nothing half done.
 */
enum wefti_lot_end wefti_lot_wait(const struct wefti_lot_wait *w);

/*
 * Wakes up to `most` that wait at key and share a bit. Returns how many. Does
 * not touch what key points to, but for the counts of those that it wakes.
 */
unsigned wefti_lot_wake(const void *key, unsigned most, uint32_t bits);

/*
 * The owner of a lock, which has waiters, gives it up: *word becomes 0 and the
 * first is woken; or, if that has waited for a millisecond, it is the owner
 * now and *word stays. After either *word is not touched any more.
 */
void wefti_lot_unlock(_Atomic uint32_t *word);

/*
 * Wakes up to `most_woken`, and has up to `most` others wait at `to`. Returns how
 * many in all; or, when the check says no, -EAGAIN, and nothing was done. Nobody
 * begins to wait at either between the check and the end.
 */
int wefti_lot_requeue(const void *from, unsigned most_woken, const void *to,
		      unsigned most, int (*check)(void *arg), void *arg);

/*
 * Calls act. When that says 0 or more, wakes up to `most` at key, and when it says
 * more than 0 up to `most_there` at other. Returns how many in all, or what act said.
 * Nobody begins to wait at either between act and the end.
 */
int wefti_lot_wake_two(const void *key, unsigned most, const void *other,
		       unsigned most_there, int (*act)(void *arg), void *arg);

/* Calls act if nobody waits at key; nobody begins to meanwhile. It wakes nobody. */
void wefti_lot_if_none(const void *key, void (*act)(void *arg), void *arg);

/* The child of a fork: nobody waits. */
void wefti_lot_forget(void);

#endif
