/* SPDX-License-Identifier: MIT */
/*
 * pthread/sync/cond.c - condition variables
 *
 * Two bits of __wrefs are kept as glibc's initializers set them (shared between
 * processes; which clock), so those initializers stay libc's. Three words, which the
 * initializers set to 0, are ours:
 *
 *   count     how many threads are queued, or handle a signal. It changes under the lot's
 *             lock, so without an RMW.
 *   handling  how many handle a signal that has interrupted their wait. LEAVING: a
 *             thread that destroys the condition variable waits for them.
 *   missed    how many signals and broadcasts there were while a thread handled
 *
 * Threads are queued in the lot (pthread/wait/lot.c), at the condition variable's
 * address. A thread is queued there before it unlocks the mutex. It is woken only by a
 * signal meant for it, by its deadline, or by a signal handler. So its wait never ends as
 * HANDED: it locks the mutex by a call of its own, and that wait may end so. A woken thread
 * does not touch the condition variable again. Once it has given up the mutex, handlers run
 * only where the thread asks for them (wefti_unwound_begin()): a thread that ends in a
 * handler has to own the mutex for its cleanups.
 *
 * As with libc's, a handler does not end the wait. Before a thread runs a handler it leaves
 * the queue, because the handler may jump out. It notes `missed` under the lot's lock, and
 * counts itself in `handling`. A signal that finds no thread in the queue, and each
 * broadcast, changes `missed`. Behind the handler the thread compares `missed`, under the
 * same lock, and is queued again or counts as woken. So no signal is lost. If several threads
 * handle at once, one signal ends the waits of all of them, as POSIX allows. If the handler
 * jumps out, the counts stay: then a signal takes the lot's lock for nothing, and the thread
 * that destroys the condition variable waits for PATIENCE_NS.
 *
 * Rejected: to stay in the queue meanwhile. The entry lies on the stack that a jump leaves.
 *
 * States of a waiting thread
 *   QUEUED   in the lot. The mutex is given up behind that
 *   HANDLES  out of the queue for a handler
 *   ENDED    woken, timed out or cancelled: it locks the mutex
 *
 *   owner --wait--> QUEUED --signal, broadcast, deadline--> ENDED
 *   QUEUED --a signal for the thread--> HANDLES --`missed` is as it was--> QUEUED
 *   HANDLES --`missed` has changed, or the thread is cancelled--> ENDED
 *
 * Writers
 *   cond.count  count_by
 *   cond.handling  enter_handler, wait_for_handlers, end_handler
 *   cond.missed  note_missed
 *
 * Invariants
 *   I1  A thread is queued, and counted in `count`, before it gives the mutex up. So a thread
 *       that locks the mutex behind it, and then signals, finds the count.
 *   I2  The states change under the lot's lock. Only a cancelled thread in HANDLES reads
 *       `missed` without it. A signal that comes later is not meant for that thread: the
 *       signal wakes another thread that waits, if there is one.
 *   I3  The waker takes the thread out of `count`. A thread that was woken does not touch the
 *       condition variable again. A thread in HANDLES touches it last in leave_handler, for
 *       which the thread that destroys it waits. So it can be destroyed behind a broadcast.
 *
 * Linearization
 *   wait: where the thread is put into the queue. signal and broadcast: where they have the
 *   lot's lock, or at the load of `count` that finds 0.
 *
 * Progress
 *   Blocking. A signal without a waiting thread is wait-free. Others take the lot's lock,
 *   which is held for a few operations (lot.c).
 *
 * ABA and reclamation
 *   `missed` may come round while one handler runs, after 2^32 signals. Entries of the lot
 *   are on the stacks of their threads.
 *
 * Pairs
 *   What the mutex protects is the mutex's own pair. The lot's lock orders the rest.
 *   Model: tests/model/loom/c/pt_cond.c.
 *
 * Source
 *   The counts of handlers are ours. Pizlo's lot (lot.c) has the queue.
 *
 * Condition variables that processes share are in pthread/sync/cond_shared.c.
 */
#include <errno.h>
#include <string.h>

#include "pthread/core/real.h"
#include "pthread/core/started.h"
#include "pthread/core/time.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/unwound.h"
#include "pthread/sync/cond_shared.h"
#include "pthread/sync/mutex.h"
#include "pthread/wait/lot.h"

#define SHARED		1u
#define MONOTONIC	2u

#define LEAVING		(1u << 31)
#define PATIENCE_NS	WEFTI_NS	/* of the thread that destroys it */

struct cond {
	_Atomic uint32_t count, missed, handling;
};

_Static_assert(sizeof(struct cond) <= offsetof(pthread_cond_t, __data.__wrefs),
	       "in its place");

static struct cond *cond_of(pthread_cond_t *c)
{
	return (struct cond *)(void *)c;
}

static int is_shared(const pthread_cond_t *c)
{
	return unlikely(c->__data.__wrefs & SHARED);
}

struct wait {
	struct cond *cond;
	pthread_mutex_t *mutex;
	uint32_t seen;		/* of missed, when the thread left the queue */
	uint8_t handles;	/* the thread is counted in handling */
	uint8_t is_last;	/* ... was the last, and another destroys the variable */
};

/* Under the lot's lock; signal and broadcast load it without. */
static void count_by(struct cond *c, uint32_t by)
{
	store_seq_cst(&c->count, load_seq_cst(&c->count) + by);
}

/* Under the lot's lock: the caller leaves the queue for a handler. */
static void enter_handler(void *wait)
{
	struct wait *w = wait;

	count_by(w->cond, 1);
	fetch_add_seq_cst(&w->cond->handling, 1);
	w->seen = load_seq_cst(&w->cond->missed);
	w->handles = 1;
}

static void end_handler(void *wait)
{
	struct wait *w = wait;

	count_by(w->cond, UINT32_MAX);
	w->handles = 0;
	w->is_last = fetch_sub_seq_cst(&w->cond->handling, 1) == (LEAVING | 1);
}

/* Unless the caller is queued, it does not touch the condition variable after this. */
static void leave_handler(struct wait *w)
{
	wefti_lot_locked(w->cond, end_handler, w);
	if (unlikely(w->is_last))
		wefti_lot_wake(&w->cond->handling, UINT32_MAX, WEFTI_LOT_ANY);
}

/* Has no signal come since the caller left the queue? Decided under the lot's lock. */
static int none_was_missed(void *wait)
{
	const struct wait *w = wait;

	return !w->handles || load_seq_cst(&w->cond->missed) == w->seen;
}

static void queued(void *wait)
{
	struct wait *w = wait;

	if (unlikely(w->handles)) {
		leave_handler(w);
		return;
	}
	wefti_mutex_give_up(w->mutex);
}

/*
 * The caller ends in a handler, or libc cancels it in its sleep. It owns the mutex again
 * for its cleanups.
 */
static void is_left(void *wait)
{
	struct wait *w = wait;

	if (w->handles)
		leave_handler(w);
	(void)wefti_mutex_have_again(w->mutex);
}

/*
 * Returns WOKEN or TIMEDOUT, or INTERRUPTED: the caller is cancelled. Handlers of signals
 * that were sent before the end have run, without the mutex.
 */
static enum wefti_lot_end wait_in_lot(const struct wefti_lot_wait *lot, struct wait *w)
{
	enum wefti_lot_end end;

	do {
		end = wefti_lot_wait(lot);
		if (end == WEFTI_LOT_CHANGED) {
			leave_handler(w);
			end = WEFTI_LOT_WOKEN;
		}
		wefti_unwound_again(is_left, w);
	} while (end == WEFTI_LOT_INTERRUPTED && !wefti_cancel_is_due());
	if (end == WEFTI_LOT_INTERRUPTED) {
		if (!none_was_missed(w))
			end = WEFTI_LOT_WOKEN;
		leave_handler(w);
	}
	return end;
}

static int wait_until(pthread_cond_t *c, pthread_mutex_t *m, int64_t deadline)
{
	struct wait w = { .cond = cond_of(c), .mutex = m };
	const struct wefti_lot_wait lot = {
		.key = c, .count = &w.cond->count, .check = none_was_missed,
		.queued = queued, .interrupted = enter_handler, .left = is_left,
		.arg = &w, .deadline = deadline, .why = WEFTI_WHY_COND,
		.urgent = WEFTI_URGENT_SIGNAL | WEFTI_URGENT_CANCEL,
	};
	enum wefti_lot_end end;
	uint8_t held;
	int error;

	if (!wefti_mutex_may_wait(m))
		return EPERM;
	wefti_cancel_point_of_all();
	held = wefti_cancel_hold();	/* until the caller owns the mutex again */
	wefti_unwound_begin();
	end = wait_in_lot(&lot, &w);
	error = wefti_mutex_have_again(w.mutex);
	wefti_cancel_release(held);
	wefti_unwound_end();
	if (end != WEFTI_LOT_WOKEN)	/* else a signal would be lost */
		wefti_cancel_point();
	return error ? error : end == WEFTI_LOT_TIMEDOUT ? ETIMEDOUT : 0;
}

/* deadline INT64_MAX: none. */
static int wait_any(pthread_cond_t *c, pthread_mutex_t *m, int64_t deadline)
{
	return is_shared(c) ? wefti_cond_shared_wait(c, m, deadline) :
			      wait_until(c, m, deadline);
}

static clockid_t clock_of(const pthread_cond_t *c)
{
	return c->__data.__wrefs & MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	if (wefti_is_aside() && !is_shared(c))
		return REAL(pthread_cond_wait)(c, m);
	return wait_any(c, m, INT64_MAX);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
				  const struct timespec *at)
{
	if (wefti_is_aside() && !is_shared(c))
		return REAL(pthread_cond_timedwait)(c, m, at);
	if (!wefti_time_is_valid(at))
		return EINVAL;
	return wait_any(c, m, wefti_time_deadline(clock_of(c), at));
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m,
				  clockid_t clock, const struct timespec *at)
{
	if (wefti_is_aside() && !is_shared(c))
		return REAL(pthread_cond_clockwait)(c, m, clock, at);
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
		return EINVAL;
	if (!wefti_time_is_valid(at))
		return EINVAL;
	return wait_any(c, m, wefti_time_deadline(clock, at));
}

/* Under the lot's lock, before a thread is woken, so that c exists. */
static void note_missed(void *cond)
{
	struct cond *c = cond;

	if (load_seq_cst(&c->handling) != 0)
		fetch_add_seq_cst(&c->missed, 1);
}

static int note_broadcast(void *cond)
{
	note_missed(cond);
	return 0;
}

EXPORT int pthread_cond_signal(pthread_cond_t *c)
{
	if (wefti_is_aside() && !is_shared(c))
		return REAL(pthread_cond_signal)(c);
	if (is_shared(c))
		return wefti_cond_shared_signal(c);
	/* A thread that must be woken has counted itself before it unlocked the mutex. */
	if (load_seq_cst(&cond_of(c)->count) != 0) {	/* of lot.c: P2 */
		wefti_lot_wake_or(c, note_missed, c);
		wefti_signals_run_any();
	}
	return 0;
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *c)
{
	if (wefti_is_aside() && !is_shared(c))
		return REAL(pthread_cond_broadcast)(c);
	if (is_shared(c))
		return wefti_cond_shared_broadcast(c);
	if (load_seq_cst(&cond_of(c)->count) != 0) {	/* of lot.c: P2 */
		wefti_lot_wake_two(c, UINT32_MAX, c, 0, note_broadcast, c);
		wefti_signals_run_any();
	}
	return 0;
}

static int some_handle(void *cond)
{
	return (load_seq_cst(&((struct cond *)cond)->handling) & ~LEAVING) != 0;
}

/* A thread whose handler has jumped out never leaves. So this does not wait for ever. */
static NOINLINE void wait_for_handlers(struct cond *c)
{
	const struct wefti_lot_wait w = {
		.key = &c->handling, .check = some_handle, .arg = c,
		.deadline = wefti_time_after(PATIENCE_NS), .why = WEFTI_WHY_COND,
	};

	fetch_or_seq_cst(&c->handling, LEAVING);
	while (some_handle(c) && wefti_lot_wait(&w) != WEFTI_LOT_TIMEDOUT)
		;
	fetch_and_seq_cst(&c->handling, ~LEAVING);
}

EXPORT int pthread_cond_destroy(pthread_cond_t *c)
{
	if (wefti_is_aside() && !is_shared(c))
		return REAL(pthread_cond_destroy)(c);
	if (is_shared(c))
		return wefti_cond_shared_destroy(c);
	if (unlikely(some_handle(cond_of(c))))
		wait_for_handlers(cond_of(c));
	return 0;
}
