/* SPDX-License-Identifier: MIT */
/*
 * pthread/sync/sem.c - semaphores, in glibc's layout
 *
 * Structure
 *   data    how many threads wait:32 | the value:32
 *   shared  not 0 if processes share the semaphore. Then it is libc's. So are named
 *           semaphores, which processes always share.
 *
 * Any handler ends a wait that has a timeout, because the kernel never restarts such a
 * futex wait. A wait without a timeout goes on after a handler with SA_RESTART.
 *
 * States
 *   The value is all of them.
 *   n --sem_post--> n + 1, up to SEM_VALUE_MAX
 *   n above 0 --take--> n - 1
 *
 * Writers
 *   sem.data  sem_post, take, wait_until, waits_no_more
 *
 * Invariants
 *   I1  The value is what it was at first, plus the posts, less the takes.
 *   I2  A thread counts itself before it looks at the value under the lot's lock, and
 *       until it has left the lot. So either a post's RMW sees that it waits, or the
 *       thread sees the post's unit. The count may be too high; then a wake finds none.
 *   I3  A woken thread owns nothing: it takes like any other, and waits again if another
 *       was first. If it has to run handlers before that, it wakes another thread
 *       (wefti_lot_run_handlers()). A timeout loses no wake-up (I2 of lot.c).
 *
 * Linearization
 *   A wait, at take's CAS. EAGAIN, ETIMEDOUT and EINTR, at the load that saw 0. A post,
 *   at its CAS.
 *
 * Progress
 *   Lock-free, except for the waits and, where threads wait, the lot's lock
 *   (pthread/wait/lot.c). A signal handler may post. Waits are not first come, first
 *   served.
 *
 * ABA and reclamation
 *   The CAS means nothing but the value and the count. A post is one RMW, which also
 *   tells whether a thread waits. The semaphore may be gone after that: the wake uses
 *   only the address.
 *
 * Pairs
 *   P1  post adds one  ->  wait takes it: what was done before the post
 *   Model: tests/model/loom/c/pt_sem.c.
 *
 * Source
 *   The word, with the value and the count of waiting threads, is glibc's since 2.21
 *   (nptl/sem_waitcommon.c).
 */
#include <errno.h>
#include <limits.h>

#include "pthread/signal/cancel.h"
#include "pthread/wait/lot.h"
#include "pthread/core/real.h"
#include "pthread/core/started.h"
#include "pthread/signal/signal.h"
#include "pthread/core/time.h"
#include "pthread/signal/region.h"

#define ONE_WAITS	(UINT64_C(1) << 32)

struct sem {
	_Atomic uint64_t data;
	int shared;
};

_Static_assert(sizeof(struct sem) <= sizeof(sem_t), "in its place");

static struct sem *sem_of(sem_t *sem)
{
	return (struct sem *)(void *)sem;
}

static int take(struct sem *s)
{
	uint64_t v = load_relaxed(&s->data);

	while ((uint32_t)v != 0)
		if (cas_weak_acquire(&s->data, &v, v - 1)) /* P1 */
			return 1;
	return 0;
}

static int is_empty(void *arg)
{
	return (uint32_t)load_seq_cst(&((struct sem *)arg)->data) == 0;
}

/* How many handlers have run that end such a wait. */
static uint32_t count_ending(int is_timed)
{
	return is_timed ? wefti_pt.handled : wefti_pt.handled_no_restart;
}

/* libc cancels the caller in its wait. */
static void waits_no_more(void *arg)
{
	fetch_sub_seq_cst(&((struct sem *)arg)->data, ONE_WAITS);
}

/*
 * Returns 0, ETIMEDOUT or EINTR. Handlers are counted, because a handler may already have
 * run when the wait is over: where the thread was preempted.
 */
static int wait_until(struct sem *s, int64_t deadline)
{
	const struct wefti_lot_wait w = {
		.key = s, .check = is_empty, .arg = s, .deadline = deadline,
		.urgent = WEFTI_URGENT_SIGNAL | WEFTI_URGENT_CANCEL,
		.left = waits_no_more, .why = WEFTI_WHY_SEM,
	};
	enum wefti_lot_end end = WEFTI_LOT_WOKEN;
	const int is_timed = deadline != INT64_MAX;
	const uint32_t ending = count_ending(is_timed);

	while (!take(s)) {
		if (end == WEFTI_LOT_TIMEDOUT) {
			wefti_signals_run_any();
			return ETIMEDOUT;
		}
		fetch_add_seq_cst(&s->data, ONE_WAITS);
		end = wefti_lot_wait(&w);
		fetch_sub_seq_cst(&s->data, ONE_WAITS);
		if (end == WEFTI_LOT_INTERRUPTED) {
			wefti_cancel_point();
			wefti_signals_run();
			if (!wefti_pt_green() ||
			    count_ending(is_timed) != ending)
				return EINTR;
		} else if (end != WEFTI_LOT_TIMEDOUT) {
			wefti_lot_run_handlers(s);
		}
	}
	wefti_signals_run_any();
	return 0;
}

static int result(int error)
{
	if (!error)
		return 0;
	errno = error;
	return -1;
}

static int wait_in_region(sem_t *sem, clockid_t clock,
			  const struct timespec *at)
{
	int status;

	wefti_region_begin();
	status = at ? REAL(sem_clockwait)(sem, clock, at) :
		      REAL(sem_wait)(sem);
	wefti_region_end();
	return status;
}

/* at NULL: no timeout. */
static int wait_shared(sem_t *sem, clockid_t clock, const struct timespec *at)
{
	const uint32_t ending = count_ending(at != NULL);
	int status, last = 0;

	if (!wefti_pt_green())
		return wait_in_region(sem, clock, at);
	do {
		int64_t limit = wefti_time_after(WEFTI_WHILE_NS);
		const struct timespec end = { limit / WEFTI_NS,
					      limit % WEFTI_NS };

		if (at)
			last = !wefti_time_is_valid(at) ||
			       wefti_time_deadline(clock, at) <= limit;
		status = last ? wait_in_region(sem, clock, at) :
				wait_in_region(sem, CLOCK_MONOTONIC, &end);
		if (status == 0)
			return 0;
		wefti_cancel_point();
		if (!wefti_pt_green() || count_ending(at != NULL) != ending)
			return result(EINTR);
		/* EINTR here: a handler that does not end the wait, or the runtime. */
	} while (errno == EINTR || (!last && errno == ETIMEDOUT));
	return -1;
}

EXPORT int sem_wait(sem_t *sem)
{
	struct sem *s = sem_of(sem);

	if (wefti_is_aside())
		return REAL(sem_wait)(sem);
	wefti_cancel_point_of_all();
	if (likely(!s->shared))
		return result(take(s) ? 0 : wait_until(s, INT64_MAX));
	if (REAL(sem_trywait)(sem) == 0)
		return 0;
	return wait_shared(sem, CLOCK_MONOTONIC, NULL);
}

/* Not a cancellation point if it need not wait, as in libc. */
EXPORT int sem_clockwait(sem_t *sem, clockid_t clock,
			 const struct timespec *at)
{
	struct sem *s = sem_of(sem);

	if (wefti_is_aside())
		return REAL(sem_clockwait)(sem, clock, at);
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
		return result(EINVAL);
	if (unlikely(s->shared)) {
		wefti_cancel_point();
		return wait_shared(sem, clock, at);
	}
	if (!wefti_time_is_valid(at))
		return result(EINVAL);
	if (take(s))
		return 0;
	wefti_cancel_point_of_all();
	return result(wait_until(s, wefti_time_deadline(clock, at)));
}

/* Always a cancellation point, unless the time is invalid. */
EXPORT int sem_timedwait(sem_t *sem, const struct timespec *at)
{
	if (wefti_is_aside())
		return REAL(sem_timedwait)(sem, at);
	if (wefti_time_is_valid(at))
		wefti_cancel_point_of_all();
	return sem_clockwait(sem, CLOCK_REALTIME, at);
}

EXPORT int sem_trywait(sem_t *sem)
{
	struct sem *s = sem_of(sem);

	if (wefti_is_aside())
		return REAL(sem_trywait)(sem);
	if (unlikely(s->shared))
		return REAL(sem_trywait)(sem);
	return take(s) ? 0 : result(EAGAIN);
}

EXPORT int sem_post(sem_t *sem)
{
	struct sem *s = sem_of(sem);
	uint64_t v;

	if (wefti_is_aside())
		return REAL(sem_post)(sem);
	if (unlikely(s->shared))
		return REAL(sem_post)(sem);
	v = load_relaxed(&s->data);
	do {
		if ((uint32_t)v == SEM_VALUE_MAX)
			return result(EOVERFLOW);
	} while (!cas_weak_seq_cst(&s->data, &v, v + 1));	/* P1 */
	if (v >= ONE_WAITS) {
		wefti_lot_wake(s, 1, WEFTI_LOT_ANY);
		wefti_signals_run_any();
	}
	return 0;
}
