/* SPDX-License-Identifier: MIT */
/*
 * pthread/sync/cond_shared.c - condition variables that processes share
 *
 * Structure
 *   It has glibc's 48 bytes. glibc's initializers leave all of them 0, except __wrefs:
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
 * So no signal is lost with a process that is killed. A handler does not end a wait. Behind
 * it the thread waits again, unless there was a signal since the wait began.
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
 *   cond.inside  leave, wait_alone, wait_green, wefti_cond_shared_destroy
 *
 * States of a waiting thread
 *   QUEUED   green: in the lot, at the word `signals`
 *   HANDLES  green: out of the queue for a handler
 *   ASLEEP   in the kernel, on the word: one of libc's, or green where no place is left
 *   ENDED    it has left, and locks the mutex
 *
 *   owner --wait--> QUEUED, ASLEEP
 *   QUEUED --a signal of this process, the watcher, deadline--> ENDED
 *   QUEUED --a signal for the thread--> HANDLES --none was counted since--> QUEUED, ASLEEP
 *   HANDLES, ASLEEP --a count, deadline, cancellation--> ENDED
 *
 * Invariants
 *   I1  A thread has noted `signals`, and is counted in `inside`, before it gives the mutex
 *       up. So a thread that locks the mutex behind it, and then signals, finds it.
 *   I2  A signal wakes a QUEUED thread of its own process, or it is counted. One that is
 *       counted ends the waits of all that HANDLE or are ASLEEP, in all processes, and in
 *       each process that of one QUEUED thread.
 *   I3  A broadcast is counted in `broadcasts` first, and in `signals` behind that. The
 *       watcher reads them in the other order, so it takes no broadcast for a signal.
 *   I4  A thread touches the condition variable last in leave(), for which the thread that
 *       destroys it waits.
 *
 * Linearization
 *   wait: where the thread is QUEUED, or where the kernel finds the word as noted. A signal:
 *   where it wakes a thread, or at its count. destroy: at the load that finds none inside.
 *
 * Progress
 *   Blocking, by the locks of the lot and of the table. A signal without a thread inside is
 *   wait-free.
 *
 * ABA and reclamation
 *   `signals` may come round while a thread is not looking, after 2^32 signals. Places of the
 *   table are no part of the condition variable.
 *
 * Pairs
 *   All seq_cst. What the mutex protects is the mutex's own pair.
 *
 * Source
 *   U. Drepper, "Futexes are tricky", 2011, for the count of signals. The rest is ours.
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
	uint32_t seen;		/* of signals, before the mutex was given up */
	uint8_t is_again;	/* the mutex was given up in an earlier wait */
};

static void queued(void *arg)
{
	const struct wait *w = arg;

	wefti_watch_queued(w->watch);
	if (!w->is_again)
		wefti_mutex_give_up(w->mutex);
}

/*
 * Has no signal come since the caller left the queue? One that other processes have sent
 * before may not have been served yet. So the count is the one from before the wait, and
 * a signal that another thread got ends this wait, too.
 */
static int none_was_missed(void *arg)
{
	const struct wait *w = arg;

	return !w->is_again || load_seq_cst(&w->cond->watch.signals) == w->seen;
}

/* The caller ends in a handler. It owns the mutex again for its cleanups. */
static void is_left(void *arg)
{
	const struct wait *w = arg;

	leave(w->cond);
	(void)wefti_mutex_have_again(w->mutex);
}

/* One wait in the lot, and the handlers behind it. */
static enum wefti_lot_end wait_once(struct wait *wait, int64_t deadline)
{
	const struct wefti_lot_wait w = {
		.key = &wait->cond->watch.signals,
		.count = wefti_watch_count(wait->watch), .check = none_was_missed,
		.queued = queued, .arg = wait, .deadline = deadline,
		.why = WEFTI_WHY_COND,
		.urgent = WEFTI_URGENT_SIGNAL | WEFTI_URGENT_CANCEL,
	};
	const enum wefti_lot_end end = wefti_lot_wait(&w);

	wefti_watch_end(wait->watch);
	wefti_unwound_again(is_left, wait);
	return end == WEFTI_LOT_CHANGED ? WEFTI_LOT_WOKEN : end;
}

/* Where the table has no place left for the wait to go on, it ends for no reason. */
static enum wefti_lot_end wait_parked(struct wait *w, int64_t deadline)
{
	enum wefti_lot_end end = wait_once(w, deadline);

	w->is_again = 1;
	while (end == WEFTI_LOT_INTERRUPTED && !wefti_cancel_is_due()) {
		w->watch = wefti_watch_begin(&w->cond->watch.signals,
					     WEFTI_WATCH_COND);
		if (!w->watch)
			return WEFTI_LOT_WOKEN;
		end = wait_once(w, deadline);
	}
	if (end == WEFTI_LOT_INTERRUPTED && !none_was_missed(w))
		end = WEFTI_LOT_WOKEN;
	return end;
}

struct nap {
	struct wait *wait;
	int64_t until;
	int timed_out;
};

static void nap_in_region(void *arg)
{
	struct nap *n = arg;

	if (!n->wait->is_again) {
		wefti_mutex_give_up(n->wait->mutex);	/* its end, too, may run handlers */
		n->wait->is_again = 1;
	}
	wefti_unwound_end();
	wefti_region_begin();
	n->timed_out = wefti_shared_wait_kernel(&n->wait->cond->watch.signals,
						n->wait->seen, n->until) != 0;
	wefti_region_end();
	wefti_unwound_begin();
}

static void nap_is_left(void *arg)
{
	is_left(((struct nap *)arg)->wait);
}

/*
 * A wait in a region cannot be interrupted, so it looks every now and then. A handler runs
 * on top of it, and may end the thread there.
 */
static enum wefti_lot_end wait_in_region(struct wait *w, int64_t deadline)
{
	while (none_was_missed(w)) {
		const int64_t limit = wefti_time_after(WEFTI_WHILE_NS);
		const int last = deadline <= limit;
		struct nap nap = { .wait = w, .until = last ? deadline : limit };

		wefti_unwound_call(nap_in_region, &nap, nap_is_left);
		wefti_unwound_again(is_left, w);
		if (nap.timed_out && last)
			return WEFTI_LOT_TIMEDOUT;
		if (none_was_missed(w) && wefti_cancel_is_due())
			return WEFTI_LOT_INTERRUPTED;
	}
	return WEFTI_LOT_WOKEN;
}

/* The caller is cancelled in the kernel. It may have been woken, so another thread is. */
static void give_up(void *arg)
{
	const struct wait *w = arg;

	fetch_add_seq_cst(&w->cond->watch.signals, 1);
	wefti_shared_wake_kernel(&w->cond->watch.signals, INT32_MAX);
	is_left(arg);
}

/* The caller is a kernel thread of libc's, and libc cancels it. */
static int wait_alone(struct wait *w, int64_t deadline)
{
	_Atomic uint32_t *signals = &w->cond->watch.signals;
	int type, error, timed_out = 0;

	fetch_add_seq_cst(&w->cond->inside, 1);
	wefti_mutex_give_up(w->mutex);
	pthread_cleanup_push(give_up, w);
	(void)!REAL(pthread_setcanceltype)(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	while (!timed_out && load_seq_cst(signals) == w->seen)
		timed_out = wefti_shared_wait_kernel(signals, w->seen, deadline) != 0;
	(void)!REAL(pthread_setcanceltype)(type, NULL);
	pthread_cleanup_pop(0);
	leave(w->cond);
	error = wefti_mutex_have_again(w->mutex);
	return error ? error : timed_out ? ETIMEDOUT : 0;
}

/* A cancelled thread owns the mutex again first, and is no longer counted. */
static int wait_green(struct wait *w, int64_t deadline)
{
	const uint8_t held = wefti_cancel_hold();
	enum wefti_lot_end end;
	int error;

	fetch_add_seq_cst(&w->cond->inside, 1);
	wefti_unwound_begin();
	end = w->watch ? wait_parked(w, deadline) : wait_in_region(w, deadline);
	leave(w->cond);
	error = wefti_mutex_have_again(w->mutex);
	wefti_unwound_end();
	if (end != WEFTI_LOT_WOKEN)	/* else a signal would be lost */
		wefti_cancel_point();
	wefti_cancel_release(held);
	return error ? error : end == WEFTI_LOT_TIMEDOUT ? ETIMEDOUT : 0;
}

int wefti_cond_shared_wait(pthread_cond_t *c, pthread_mutex_t *m,
			   int64_t deadline)
{
	struct wait w = { .cond = cond_of(c), .mutex = m };

	if (!wefti_mutex_may_wait(m))
		return EPERM;
	pthread_testcancel();
	w.seen = load_seq_cst(&w.cond->watch.signals);
	w.watch = wefti_watch_begin(&w.cond->watch.signals, WEFTI_WATCH_COND);
	return w.watch || wefti_pt_green() ? wait_green(&w, deadline) :
					     wait_alone(&w, deadline);
}

int wefti_cond_shared_signal(pthread_cond_t *cond)
{
	struct cond *c = cond_of(cond);

	/* A thread that must be woken has counted itself before it unlocked the mutex. */
	if (load_seq_cst(&c->inside) == 0)
		return 0;
	if (!wefti_watch_wake(&c->watch.signals)) {
		fetch_add_seq_cst(&c->watch.signals, 1);
		wefti_shared_wake_kernel(&c->watch.signals, INT32_MAX);
	}
	wefti_signals_run_any();
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
	wefti_signals_run_any();
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
