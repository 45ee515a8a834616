/* SPDX-License-Identifier: MIT */
/*
 * pthread/sync/cond.c - condition variables
 *
 * Two bits of __wrefs are kept as glibc's initializers set them (shared between
 * processes; which clock), so those initializers stay libc's. The first word counts the
 * waiting threads. They are queued in the lot (pthread/wait/lot.c), at the condition
 * variable's address. A thread is queued there before it unlocks the mutex. It is woken
 * only by a signal meant for it, by its deadline, or by a signal handler. So its wait never
 * ends as HANDED: it locks the mutex by a call of its own, and that wait may end so. A
 * woken thread does not touch the condition variable again.
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

static _Atomic uint32_t *count_of(pthread_cond_t *c)
{
	return (_Atomic uint32_t *)(void *)c;
}

static int is_shared(const pthread_cond_t *c)
{
	return unlikely(c->__data.__wrefs & SHARED);
}

static void give_up(void *mutex)
{
	wefti_mutex_count_user(mutex, 1);
	(void)!pthread_mutex_unlock(mutex);
}

/* A thread that is cancelled in a handler owns the mutex again for its cleanups. */
static void have_again(void *mutex)
{
	(void)!pthread_mutex_lock(mutex);
}

/* The same where libc cancels it. */
static void have_again_as_one(void *mutex)
{
	have_again(mutex);
	wefti_mutex_count_user(mutex, -1);
}

static int wait_until(pthread_cond_t *c, pthread_mutex_t *m, int64_t deadline)
{
	const struct wefti_lot_wait w = {
		.key = c, .count = count_of(c), .queued = give_up, .arg = m,
		.deadline = deadline, .why = WEFTI_WHY_COND,
		.urgent = WEFTI_URGENT_SIGNAL | WEFTI_URGENT_CANCEL,
		.left = have_again_as_one,
	};
	enum wefti_lot_end end;
	uint8_t held;
	int error;

	if (!wefti_mutex_may_wait(m))
		return EPERM;
	wefti_cancel_point_of_all();
	held = wefti_cancel_hold();	/* until the caller owns the mutex again */
	end = wefti_lot_wait(&w);
	wefti_unwound_signals(have_again, m);
	error = pthread_mutex_lock(m);
	wefti_mutex_count_user(m, -1);
	wefti_cancel_release(held);
	wefti_signals_run_any();
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

static int wake(pthread_cond_t *c, unsigned most)
{
	/* A thread that must be woken has counted itself before it unlocked the mutex. */
	if (load_seq_cst(count_of(c)) != 0)
		wefti_lot_wake(c, most, WEFTI_LOT_ANY);
	return 0;
}

EXPORT int pthread_cond_signal(pthread_cond_t *c)
{
	if (wefti_is_aside() && !is_shared(c))
		return REAL(pthread_cond_signal)(c);
	return is_shared(c) ? wefti_cond_shared_signal(c) : wake(c, 1);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *c)
{
	if (wefti_is_aside() && !is_shared(c))
		return REAL(pthread_cond_broadcast)(c);
	return is_shared(c) ? wefti_cond_shared_broadcast(c) :
			      wake(c, UINT32_MAX);
}

EXPORT int pthread_cond_destroy(pthread_cond_t *c)
{
	if (wefti_is_aside() && !is_shared(c))
		return REAL(pthread_cond_destroy)(c);
	return is_shared(c) ? wefti_cond_shared_destroy(c) : 0;
}
