/* SPDX-License-Identifier: MIT */
/*
 * pthread/sync/cond_shared.c - condition variables that processes share
 *
 * It has glibc's 48 bytes. glibc's initializers leave all of them 0, except __wrefs:
 *
 *   watch    how many signals and broadcasts there were. A waiting thread notes the
 *            number before it unlocks the mutex, and may go on when it has grown.
 *   inside   how many threads wait, or are about to leave. LEAVING: a thread that
 *            destroys it waits for them. Threads of a killed process stay counted.
 *   __wrefs  shared; which clock (pthread/sync/cond.c)
 *
 * Green threads are served through pthread/shared/watch.c. A kernel thread of libc's
 * waits for the word itself. A signal wakes one thread of the caller's process; or, as
 * POSIX allows, one thread of each process and all kernel threads that wait themselves.
 * So no signal is lost with a process that is killed.
 *
 * From the first call on it is not libc's condition variable, whether or not the process
 * has threads. So all processes that share one have to run under weft.
 *
 * Rejected: libc's own. It keeps groups of waiting threads in tables that a killed
 * process leaves wrong, and that change with libc's versions. Its only gain was that
 * processes without weft could share it, at the cost of a kernel thread for each waiter.
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
#define PATIENCE_NS	WEFTI_NS	/* of the thread that destroys it */

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

/* The caller does not touch c after this. */
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

/* The same as in pthread/sync/cond.c. */
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
	wefti_signals_run_any();
	if (end != WEFTI_LOT_WOKEN)	/* else a signal would be lost */
		wefti_cancel_point();
	return error ? error : end == WEFTI_LOT_TIMEDOUT ? ETIMEDOUT : 0;
}

/*
 * A wait in a region cannot be interrupted, so it is never long. After a while the call
 * returns for no reason, which POSIX allows, or the caller is cancelled.
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
	wefti_signals_run_any();
	error = pthread_mutex_lock(m);
	wefti_mutex_count_user(m, -1);
	if (timed_out)
		wefti_cancel_point();
	return error ? error : timed_out && last ? ETIMEDOUT : 0;
}

/* The caller is cancelled in the kernel. It may have been woken, so another thread is. */
static void give_up(void *arg)
{
	const struct wait *w = arg;

	fetch_add_seq_cst(&w->cond->watch.signals, 1);
	wefti_shared_wake_kernel(&w->cond->watch.signals, INT32_MAX);
	leave(w->cond);
	(void)!pthread_mutex_lock(w->mutex);
	wefti_mutex_count_user(w->mutex, -1);
}

/* The caller is a kernel thread of libc's, and libc cancels it. */
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

/* A cancelled thread owns the mutex again first, and is no longer counted. */
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

	/* A thread that must be woken has counted itself before it unlocked the mutex. */
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
 * As with libc's, a woken thread may still have to leave. A thread whose process was
 * killed never leaves. So this gives up when no thread has left within PATIENCE_NS.
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
