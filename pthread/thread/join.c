/* SPDX-License-Identifier: MIT */
/*
 * pthread/thread/join.c - threads are joined and detached
 *
 * A thread that waits for another is its joiner. Then no other thread can join it, and
 * detaching it has no effect, so it still exists when the joiner looks. A thread that has
 * ended is joined without becoming its joiner.
 *
 * When the first thread has left by pthread_exit(), it stays, as the process does. Once
 * it is detached, it is its own joiner.
 *
 * Writers
 *   pt.joiner  become_joiner, detach_main, give_up, is_no_joiner, must_wait
 *
 * Pairs
 *   P1  the joiner is stored; ended is loaded. The thread that ends stores ended, and
 *       loads joiner (pthread/thread/create.c). All four are seq_cst, so one of the two
 *       sees the other. A thread that ends without a joiner does not look into the lot.
 *       So the joiner is stored once more where no handler runs any more before the wait:
 *       a handler that has joined the same thread, with a deadline, has given up
 */
#include <errno.h>

#include "life/life.h"
#include "pthread/core/real.h"
#include "pthread/core/time.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/unwound.h"
#include "pthread/wait/lot.h"
#include "thread/bare.h"
#include "weft/thread.h"

static int is_running(void *ended)
{
	return load_seq_cst((_Atomic uint32_t *)ended) == 0;	/* P1 */
}

/* Under the lot's lock. */
static int must_wait(void *joined)
{
	struct wefti_pt *pt = joined, *none = NULL;

	if (!load_seq_cst(&pt->joiner))
		(void)cas_seq_cst(&pt->joiner, &none, &wefti_pt);	/* P1 */
	return is_running(&pt->ended);
}

/* The caller is cancelled in a handler: other threads may join. */
static void is_no_joiner(void *pt)
{
	store_seq_cst(&((struct wefti_pt *)pt)->joiner, (struct wefti_pt *)NULL);
}

/* libc cancels the caller, a thread of its own. wait_for() cleans up. */
static void leave_to_wait_for(void *unused)
{
	(void)unused;
}

/* Returns 0 or ETIMEDOUT. */
static int wait_end(const struct wefti_thread *t, int64_t deadline)
{
	struct wefti_pt *pt = wefti_pt_of(t);
	const struct wefti_lot_wait w = {
		.key = &pt->ended, .check = must_wait, .arg = pt,
		.deadline = deadline, .why = WEFTI_WHY_JOIN, .joins = t,
		.urgent = WEFTI_URGENT_SIGNAL | WEFTI_URGENT_CANCEL,
		.left = leave_to_wait_for,
	};

	while (is_running(&pt->ended)) {
		switch (wefti_lot_wait(&w)) {
		case WEFTI_LOT_TIMEDOUT:
			return ETIMEDOUT;
		case WEFTI_LOT_INTERRUPTED:
			wefti_cancel_point();
			wefti_unwound_signals(is_no_joiner, pt);
			break;
		default:
			break;
		}
	}
	wefti_unwound_signals(is_no_joiner, pt);
	return 0;
}

/*
 * The error for a thread that has ended, as libc reports it for as long as libc can know.
 */
static int gone(const struct wefti_thread *t)
{
	uint64_t w = load_relaxed(&t->join);

	return !wefti_join_is_ticket(w) &&
	       wefti_join_state(w) == WEFTI_JOIN_DETACHED ? EINVAL : ESRCH;
}

static int is_detached(const struct wefti_thread *t)
{
	return load_relaxed(&t->join) ==
	       wefti_join_word((uint32_t)(wefti_thread_id(t) >> 32),
			       WEFTI_JOIN_DETACHED);
}

/* If a handler left the caller's last wait by a jump, the caller is still the joiner. */
static int has_other_joiner(struct wefti_pt *pt)
{
	const struct wefti_pt *joiner = load_seq_cst(&pt->joiner);

	return joiner && joiner != &wefti_pt;
}

/* Returns 0, or EINVAL: another thread is the joiner. */
static int become_joiner(struct wefti_pt *pt)
{
	struct wefti_pt *none = NULL;

	return cas_seq_cst(&pt->joiner, &none, &wefti_pt) ||	/* P1 */
	       none == &wefti_pt ? 0 : EINVAL;
}

static void give_up(struct wefti_pt **pt)
{
	if (*pt)
		store_seq_cst(&(*pt)->joiner, (struct wefti_pt *)NULL);
}

static NOINLINE int wait_as_joiner(const struct wefti_thread *t, struct wefti_pt *pt,
				   int64_t deadline)
{
	struct wefti_pt *waited __attribute__((cleanup(give_up), unused)) = NULL;
	int error = become_joiner(pt);

	if (error)
		return error;
	waited = pt;
	error = wait_end(t, deadline);
	if (!error)
		waited = NULL;
	return error;
}

/* Waits until t has ended and the caller may join it. */
static inline int wait_for(const struct wefti_thread *t, struct wefti_pt *pt,
			   int64_t deadline)
{
	wefti_cancel_point_of_all();
	if (is_running(&pt->ended))
		return wait_as_joiner(t, pt, deadline);
	return has_other_joiner(pt) ? EINVAL : 0;
}

/* The first thread is joined only once: its joiner stays. */
static int join_main(void **result, int64_t deadline)
{
	struct wefti_pt *pt = wefti_pt_of(wefti_rt.main);
	int error;

	if (deadline == WEFT_NO_WAIT && is_running(&pt->ended))
		return EBUSY;
	if (wefti_rt.main == wefti_self())
		return EDEADLK;
	error = wait_for(wefti_rt.main, pt, deadline);
	if (!error)
		error = become_joiner(pt);
	if (!error && result)
		*result = pt->result;
	return error;
}

/* t is what wefti_pt_was_thread() has found for `thread`. */
static int join_until(struct wefti_thread *t, pthread_t thread, void **result,
		      int64_t deadline)
{
	uint64_t id = wefti_thread_id(t);
	struct wefti_pt *pt;
	int error;

	if (unlikely(t == wefti_rt.main))
		return join_main(result, deadline);
	if (!wefti_id_is_valid(id) || wefti_pt_handle(t) != thread)
		return gone(t);
	pt = wefti_pt_of(t);
	if (deadline == WEFT_NO_WAIT && is_running(&pt->ended))
		return EBUSY;
	if (is_detached(t))
		return EINVAL;
	if (t == wefti_self())
		return EDEADLK;
	error = wait_for(t, pt, deadline);
	if (!error)
		error = -weft_join(id, result);
	wefti_signals_run_any();
	return error;
}

EXPORT int pthread_join(pthread_t thread, void **result)
{
	struct wefti_thread *t = wefti_pt_was_thread(thread);

	if (!t)
		return REAL(pthread_join)(thread, result);
	return join_until(t, thread, result, WEFT_FOREVER);
}

EXPORT int pthread_tryjoin_np(pthread_t thread, void **result)
{
	struct wefti_thread *t = wefti_pt_was_thread(thread);

	if (!t)
		return REAL(pthread_tryjoin_np)(thread, result);
	return join_until(t, thread, result, WEFT_NO_WAIT);
}

EXPORT int pthread_clockjoin_np(pthread_t thread, void **result,
				clockid_t clock, const struct timespec *at)
{
	struct wefti_thread *t = wefti_pt_was_thread(thread);

	if (!t)
		return REAL(pthread_clockjoin_np)(thread, result, clock, at);
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
		return EINVAL;
	if (at && !wefti_time_is_valid(at))
		return EINVAL;
	return join_until(t, thread, result, at ? wefti_time_deadline(clock, at) :
						  WEFT_FOREVER);
}

EXPORT int pthread_timedjoin_np(pthread_t thread, void **result,
				const struct timespec *at)
{
	return pthread_clockjoin_np(thread, result, CLOCK_REALTIME, at);
}

static int detach_main(struct wefti_pt *pt)
{
	struct wefti_pt *joiner = NULL;

	return !cas_seq_cst(&pt->joiner, &joiner, pt) && joiner == pt ? EINVAL :
									0;
}

EXPORT int pthread_detach(pthread_t thread)
{
	struct wefti_thread *t = wefti_pt_was_thread(thread);
	uint64_t id;
	int error;

	if (!t)
		return REAL(pthread_detach)(thread);
	if (t == wefti_rt.main)
		return detach_main(wefti_pt_of(t));
	id = wefti_thread_id(t);
	if (wefti_thread_find(id) != t || wefti_pt_handle(t) != thread)
		return gone(t);
	if (load_seq_cst(&wefti_pt_of(t)->joiner))
		return 0;	/* it is being joined; libc returns 0 too */
	error = -weft_detach(id);
	return error == ESRCH ? gone(t) : error;
}
