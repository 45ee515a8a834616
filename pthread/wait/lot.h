/* SPDX-License-Identifier: MIT */
/*
 * pthread/wait/lot.h - threads wait at an address, until they are woken there
 *
 * The lot is a futex for all threads. A green thread parks. A kernel thread that carries
 * none sleeps, and so does a caller inside the runtime. glibc's objects keep their
 * layout: only the threads that wait for them are kept here.
 */
#ifndef WEFT_PTHREAD_WAIT_LOT_H
#define WEFT_PTHREAD_WAIT_LOT_H

#include "base/compiler.h"
#include "lockfree/atomic.h"
#include "thread/thread.h"

enum wefti_lot_end {
	WEFTI_LOT_CHANGED,	/* the check returned 0: the caller did not wait */
	WEFTI_LOT_WOKEN,
	WEFTI_LOT_HANDED,	/* woken, and owner of the lock; see unlock */
	WEFTI_LOT_TIMEDOUT,
	WEFTI_LOT_INTERRUPTED,	/* see pthread/core/self.h: urgent */
};

#define WEFTI_LOT_ANY	UINT32_MAX

struct wefti_lot_wait {
	const void *key;
	/* Must the caller wait? No thread is woken at key meanwhile. NULL: yes. */
	int (*check)(void *arg);
	/* Called when the caller is in the queue; may wake others. NULL: no. */
	void (*queued)(void *arg);
	void *arg;
	int64_t deadline;		/* CLOCK_MONOTONIC; INT64_MAX: none */
	/* Counts the threads queued at key; changes under the lock of key. NULL: none. */
	_Atomic uint32_t *count;
	uint32_t bits;			/* for wake; 0: any */
	uint32_t urgent;		/* what interrupts the wait: WEFTI_URGENT_* */
	/*
	 * Not NULL: the wait is a cancellation point of libc's threads. If libc cancels
	 * the caller, this is called with arg when the caller has left the queue.
	 */
	void (*left)(void *arg);
	/*
	 * Called when the wait is interrupted, before the caller leaves the queue. No
	 * thread is woken at key meanwhile. NULL: no.
	 */
	void (*interrupted)(void *arg);
	/* Where a lock has its owner's number (wefti_pt_id), for the recorder; NULL: nowhere. */
	const _Atomic int *owner;
	enum wefti_why why;
	const struct wefti_thread *joins;	/* for WEFTI_WHY_JOIN; NULL: all others */
};

/*
 * May park. At a key, the thread with the highest real-time priority is woken first,
 * among equals the oldest.
 *
 * A signal that was sent before the wake-up has to be handled before the caller's own
 * call returns. So the caller looks for it (wefti_signals_run_any()), however the wait
 * ended. That is not done in here: a handler may jump out of the call, and must find
 * nothing half done.
 */
enum wefti_lot_end wefti_lot_wait(const struct wefti_lot_wait *w);

/*
 * Wakes up to `most` threads that wait at key and share a bit. Returns how many. Does not
 * touch what key points to, except the counts of the threads that it wakes.
 *
 * A signal that comes to the caller meanwhile is refused, as the caller is in the runtime.
 * So a function of the program's that wakes threads looks for signals at its end
 * (wefti_signals_run_any()). Else the handler would run at one of the monitor's next looks,
 * perhaps behind a call that takes what a woken thread has given.
 */
unsigned wefti_lot_wake(const void *key, unsigned most, uint32_t bits);

/*
 * Wakes the first thread that waits at key. If none waits, calls act, and none begins to
 * wait meanwhile.
 */
void wefti_lot_wake_or(const void *key, void (*act)(void *arg), void *arg);

/*
 * For a caller that was woken to take a lock or one of a semaphore's: any thread that waits
 * at key may take it. Before the caller takes it, this runs the handlers of signals that
 * were sent before the wake-up. A handler may jump out of the call, so another thread is
 * woken first. The calling thread may be cancelled in here, as at each instruction, if
 * that is how it may be cancelled.
 */
void wefti_lot_run_handlers(const void *key);

/*
 * The owner of a lock with waiters gives it up. *word becomes 0 and the first waiter is
 * woken. Or, if that waiter has waited for a millisecond, it becomes the owner and *word
 * stays. After either, *word is not touched any more.
 */
void wefti_lot_unlock(_Atomic uint32_t *word);

/*
 * Wakes up to `most_woken` threads, and moves up to `most` others to wait at `to`.
 * Returns how many in all. If the check returns 0: -EAGAIN, and nothing was done. No
 * thread begins to wait at either place between the check and the end.
 */
int wefti_lot_requeue(const void *from, unsigned most_woken, const void *to,
		      unsigned most, int (*check)(void *arg), void *arg);

/*
 * Calls act. If it returns 0 or more, wakes up to `most` threads at key. If it returns
 * more than 0, wakes also up to `most_there` at other. Returns how many in all, or act's
 * negative result. No thread begins to wait at either place between act and the end.
 */
int wefti_lot_wake_two(const void *key, unsigned most, const void *other,
		       unsigned most_there, int (*act)(void *arg), void *arg);

/* Calls act if no thread waits at key. None begins to meanwhile. act wakes no thread. */
void wefti_lot_if_none(const void *key, void (*act)(void *arg), void *arg);

/* Calls act under the lock of key. No thread begins to wait there, or is woken, meanwhile. */
void wefti_lot_locked(const void *key, void (*act)(void *arg), void *arg);

/* In the child of a fork: no thread waits. */
void wefti_lot_forget(void);

#endif
