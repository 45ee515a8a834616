/* SPDX-License-Identifier: MIT */
/*
 * pthread/sync/cond_shared.c - condition variables that processes share
 *
 * In glibc's 48 bytes, of which its initializers leave all but __wrefs 0:
 *
 *   watch    how many signals and broadcasts there were. Who waits takes note of
 *            that before it gives up the mutex, and may go on when it is more.
 *   inside   how many wait, or are about to leave; LEAVING: one who destroys it
 *            waits for them. Those of a process that was killed stay counted.
 *   __wrefs  shared; which clock (pthread/sync/cond.c)
 *
 * Green threads are served through pthread/shared/watch.c; a kernel thread of libc's
 * waits for the word itself. A signal wakes one thread of the caller's process,
 * or one of each and all kernel threads that wait themselves (as POSIX allows). So
 * nothing is lost with a process that is killed.
 *
 * It is not libc's condition variable, from the first call on, whether or not
 * the process has threads: all processes that share one run under weft.
 *
 * Rejected: libc's own, which keeps groups of those who wait, by tables that a
 * killed process leaves wrong, and that change with its versions. That its
 * processes could share it was worth a kernel thread for each that waits.
 *
 * Writers
 *   watch_cond.broadcasts  wefti_cond_shared_broadcast
 *   watch_cond.signals  give_up, wefti_cond_shared_broadcast,
 *       wefti_cond_shared_signal
 *   cond.inside  leave, wait_alone, wait_in_region, wait_parked,
 *       wefti_cond_shared_destroy
 */
#include "pthread/sync/cond_shared.h"

#include <errno.h>

#include "pthread/core/real.h"
#include "pthread/core/time.h"
#include "pthread/shared/shared.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/unwound.h"
#include "pthread/sync/mutex.h"
#include "pthread/wait/lot.h"

#define LEAVING		(1u << 31)
#define PATIENCE_NS	WEFTI_NS	/* of who destroys it */

struct cond {
	struct wefti_watch_cond watch;
	_Atomic uint32_t inside;
};

_Static_assert(sizeof(struct cond) <=
	       offsetof(pthread_cond_t, __data.__wrefs), "in its place");

static struct cond *cond_of(pthread_cond_t *c)
{
	return (struct cond *)(void *)c;
}

/* Not touched any more after it. */
static void leave(struct cond *c)
{
	if (fetch_sub_seq_cst(&c->inside, 1) == (LEAVING | 1))
		wefti_shared_wake_kernel(&c->inside, INT32_MAX);
}

struct wait {
	struct wefti_watch *watch;
	struct cond *cond;
	pthread_mutex_t *mutex;
};

static void queued(void *arg)
{
	const struct wait *w = arg;

	wefti_watch_queued(w->watch);
	wefti_mutex_count_user(w->mutex, 1);
	(void)!pthread_mutex_unlock(w->mutex);
}

/* As in pthread/sync/cond.c. */
static void have_again(void *mutex)
{
	(void)!pthread_mutex_lock(mutex);
}

static int wait_parked(struct wait *wait, int64_t deadline)
{
	const struct wefti_lot_wait w = {
		.key = &wait->cond->watch.signals,
		.count = wefti_watch_count(wait->watch), .queued = queued,
		.arg = wait, .deadline = deadline, .why = WEFTI_WHY_COND,
		.urgent = WEFTI_URGENT_SIGNAL | WEFTI_URGENT_CANCEL,
	};
	enum wefti_lot_end end;
	int error;

	fetch_add_seq_cst(&wait->cond->inside, 1);
	end = wefti_lot_wait(&w);
	wefti_watch_end(wait->watch);
	leave(wait->cond);
	wefti_unwound_signals(have_again, wait->mutex);
	error = pthread_mutex_lock(wait->mutex);
	wefti_mutex_count_user(wait->mutex, -1);
	wefti_signals_look();
	if (end != WEFTI_LOT_WOKEN)	/* a signal is not lost */
		wefti_cancel_point();
	return error ? error : end == WEFTI_LOT_TIMEDOUT ? ETIMEDOUT : 0;
}

/*
 * Nobody can interrupt a wait in a region, so it is none of any length: after a
 * while the caller finds itself woken for no reason, which POSIX allows, or is
 * cancelled.
 */
static int wait_in_region(struct cond *c, pthread_mutex_t *m, int64_t deadline)
{
	int64_t limit = wefti_time_after(WEFTI_WHILE_NS);
	uint32_t seen = load_seq_cst(&c->watch.signals);
	int last = deadline <= limit, error, timed_out;

	fetch_add_seq_cst(&c->inside, 1);
	wefti_mutex_count_user(m, 1);
	(void)!pthread_mutex_unlock(m);
	wefti_region_begin();
	timed_out = wefti_shared_wait_kernel(&c->watch.signals, seen,
					     last ? deadline : limit) != 0;
	leave(c);
	wefti_region_end();
	wefti_signals_look();
	error = pthread_mutex_lock(m);
	wefti_mutex_count_user(m, -1);
	if (timed_out)
		wefti_cancel_point();
	return error ? error : timed_out && last ? ETIMEDOUT : 0;
}

/* Cancelled in the kernel, where it may have been woken: another is. */
static void give_up(void *arg)
{
	const struct wait *w = arg;

	fetch_add_seq_cst(&w->cond->watch.signals, 1);
	wefti_shared_wake_kernel(&w->cond->watch.signals, INT32_MAX);
	leave(w->cond);
	(void)!pthread_mutex_lock(w->mutex);
	wefti_mutex_count_user(w->mutex, -1);
}

/* A kernel thread of libc's, which libc cancels. */
static int wait_alone(struct wait *w, int64_t deadline)
{
	_Atomic uint32_t *signals = &w->cond->watch.signals;
	uint32_t seen = load_seq_cst(signals);
	int type, error, timed_out;

	fetch_add_seq_cst(&w->cond->inside, 1);
	wefti_mutex_count_user(w->mutex, 1);
	(void)!pthread_mutex_unlock(w->mutex);
	pthread_cleanup_push(give_up, w);
	(void)!REAL(pthread_setcanceltype)(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	timed_out = wefti_shared_wait_kernel(signals, seen, deadline) != 0;
	(void)!REAL(pthread_setcanceltype)(type, NULL);
	pthread_cleanup_pop(0);
	leave(w->cond);
	error = pthread_mutex_lock(w->mutex);
	wefti_mutex_count_user(w->mutex, -1);
	return error ? error : timed_out ? ETIMEDOUT : 0;
}

/* Whoever is cancelled has the mutex again first, and is counted no more. */
static int wait_green(struct wait *w, int64_t deadline)
{
	const uint8_t held = wefti_cancel_hold();
	const int error = w->watch ? wait_parked(w, deadline) :
			  wait_in_region(w->cond, w->mutex, deadline);

	wefti_cancel_release(held);
	return error;
}

int wefti_cond_shared_wait(pthread_cond_t *c, pthread_mutex_t *m,
			   int64_t deadline)
{
	struct wait w = { .cond = cond_of(c), .mutex = m };

	if (!wefti_mutex_may_wait(m))
		return EPERM;
	pthread_testcancel();
	w.watch = wefti_watch_begin(&w.cond->watch.signals, WEFTI_WATCH_COND);
	return w.watch || wefti_pt_green() ? wait_green(&w, deadline) :
					     wait_alone(&w, deadline);
}

int wefti_cond_shared_signal(pthread_cond_t *cond)
{
	struct cond *c = cond_of(cond);

	/* Whom it must wake has counted itself before it gave up the mutex. */
	if (load_seq_cst(&c->inside) == 0 ||
	    wefti_watch_wake(&c->watch.signals))
		return 0;
	fetch_add_seq_cst(&c->watch.signals, 1);
	wefti_shared_wake_kernel(&c->watch.signals, INT32_MAX);
	return 0;
}

int wefti_cond_shared_broadcast(pthread_cond_t *cond)
{
	struct cond *c = cond_of(cond);

	if (load_seq_cst(&c->inside) == 0)
		return 0;
	fetch_add_seq_cst(&c->watch.broadcasts, 1);
	fetch_add_seq_cst(&c->watch.signals, 1);
	wefti_watch_serve(&c->watch.signals);
	wefti_shared_wake_kernel(&c->watch.signals, INT32_MAX);
	return 0;
}

/*
 * As with libc's, who has been woken may still have to leave. One that was
 * killed never does: so the patience, within which nobody has left.
 */
int wefti_cond_shared_destroy(pthread_cond_t *cond)
{
	struct cond *c = cond_of(cond);
	uint32_t seen = fetch_or_seq_cst(&c->inside, LEAVING) | LEAVING;
	struct wefti_watch *none = NULL;

	while (seen != LEAVING) {
		uint32_t before = seen;
		int error = wefti_shared_wait(&none, WEFTI_WATCH_LOCK,
					      &c->inside, seen,
					      wefti_time_after(PATIENCE_NS));

		seen = load_seq_cst(&c->inside);
		if (error && seen == before)
			break;
	}
	fetch_and_seq_cst(&c->inside, ~LEAVING);
	return 0;
}
