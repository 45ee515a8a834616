/* SPDX-License-Identifier: MIT */
/*
 * pthread/mutex.c - mutexes, in glibc's layout
 *
 *   __lock   0 free, 1 taken, 2 taken and maybe waited for
 *   __owner  the owner's id (pthread/self.h), __count of a recursive one
 *   __kind   as glibc's initializers and pthread_mutex_init() put it
 *
 * That is also what glibc's own functions keep there, so those that only look
 * or initialize are libc's still. What other processes share, and what is
 * robust, is left to libc: a kernel thread then sleeps for it, in a region in
 * which its VCPU is given to others. Protocols of priority mean nothing where
 * all threads have one priority: such a mutex is like any other.
 *
 * The lock barges, but for a waiter that has waited for a millisecond
 * (pthread/lot.c). Unlock's last access to the mutex is the one that releases
 * it, since its next owner may free it.
 *
 * Pairs
 *   P1  unlock stores 0, or hands over  ->  lock: what the mutex protects
 */
#include "pthread/mutex.h"

#include <errno.h>

#include "pthread/cancel.h"
#include "pthread/lot.h"
#include "pthread/real.h"
#include "pthread/signal.h"
#include "pthread/time.h"
#include "pthread/region.h"

#define KIND_MASK	3
#define ROBUST		16
#define SHARED		128

static _Atomic uint32_t *word_of(pthread_mutex_t *m)
{
	return (_Atomic uint32_t *)(void *)&m->__data.__lock;
}

static int kind_of(const pthread_mutex_t *m)
{
	return m->__data.__kind & KIND_MASK;
}

/* Not for us: see above. */
static int is_libcs(const pthread_mutex_t *m)
{
	return unlikely(m->__data.__kind & (ROBUST | SHARED));
}

static int is_mine(const pthread_mutex_t *m)
{
	return *(const volatile int *)&m->__data.__owner == wefti_pt_id();
}

static void own(pthread_mutex_t *m)
{
	m->__data.__owner = wefti_pt_id();
	m->__data.__nusers++;
}

static int is_contended(void *arg)
{
	return load_relaxed((_Atomic uint32_t *)arg) == 2;
}

/* Returns 0 or ETIMEDOUT. */
static NOINLINE int wait_for(pthread_mutex_t *m, int64_t deadline)
{
	_Atomic uint32_t *word = word_of(m);
	const struct wefti_lot_wait w = {
		.key = word, .check = is_contended, .arg = word,
		.deadline = deadline, .why = WEFTI_WHY_MUTEX,
		.urgent = wefti_cancel_urgent(),
	};

	while (xchg_acquire(word, 2) != 0) {	/* P1 */
		switch (wefti_lot_wait(&w)) {
		case WEFTI_LOT_HANDED:
			return 0;
		case WEFTI_LOT_TIMEDOUT:
			return ETIMEDOUT;
		case WEFTI_LOT_INTERRUPTED:
			wefti_cancel_point_async();
			wefti_signals_run();
			break;
		default:
			break;
		}
	}
	return 0;
}

static inline int take(pthread_mutex_t *m)
{
	uint32_t free = 0;

	return cas_acquire(word_of(m), &free, 1);	/* P1 */
}

/* The caller has it already. Returns 0, or an error; -1: it has not. */
static int again(pthread_mutex_t *m)
{
	int kind = kind_of(m);

	if (kind == PTHREAD_MUTEX_RECURSIVE_NP && is_mine(m)) {
		if (m->__data.__count + 1 == 0)
			return EAGAIN;
		m->__data.__count++;
		return 0;
	}
	if (kind == PTHREAD_MUTEX_ERRORCHECK_NP && is_mine(m))
		return EDEADLK;
	return -1;
}

static int lock_until(pthread_mutex_t *m, int64_t deadline)
{
	int kind = kind_of(m);

	if (kind == PTHREAD_MUTEX_RECURSIVE_NP ||
	    kind == PTHREAD_MUTEX_ERRORCHECK_NP) {
		int error = again(m);

		if (error >= 0)
			return error;
	}
	if (!take(m)) {
		int error = wait_for(m, deadline);

		if (error)
			return error;
	}
	own(m);
	if (kind == PTHREAD_MUTEX_RECURSIVE_NP)
		m->__data.__count = 1;
	return 0;
}

/* Of libc's: tried for first, so that the region is only where it waits. */
static NOINLINE int lock_libcs(pthread_mutex_t *m)
{
	int error = REAL(pthread_mutex_trylock)(m);

	if (error != EBUSY)
		return error;
	wefti_region_begin();
	error = REAL(pthread_mutex_lock)(m);
	wefti_region_end();
	return error;
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	if (is_libcs(m))
		return lock_libcs(m);
	return lock_until(m, INT64_MAX);
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *m)
{
	if (is_libcs(m))
		return REAL(pthread_mutex_trylock)(m);
	if (kind_of(m) == PTHREAD_MUTEX_RECURSIVE_NP) {
		int error = again(m);

		if (error >= 0)
			return error;
	}
	if (!take(m))
		return EBUSY;
	own(m);
	if (kind_of(m) == PTHREAD_MUTEX_RECURSIVE_NP)
		m->__data.__count = 1;
	return 0;
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
				   const struct timespec *at)
{
	int error;

	if (is_libcs(m)) {
		wefti_region_begin();
		error = REAL(pthread_mutex_clocklock)(m, clock, at);
		wefti_region_end();
		return error;
	}
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
		return EINVAL;
	error = pthread_mutex_trylock(m);
	if (error != EBUSY)
		return error;
	if (!wefti_time_is_valid(at))
		return EINVAL;
	return lock_until(m, wefti_time_deadline(clock, at));
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m,
				   const struct timespec *at)
{
	return pthread_mutex_clocklock(m, CLOCK_REALTIME, at);
}

static void release(pthread_mutex_t *m)
{
	uint32_t taken = 1;

	m->__data.__owner = 0;
	m->__data.__nusers--;
	if (unlikely(!cas_release(word_of(m), &taken, 0)))	/* P1 */
		wefti_lot_unlock(word_of(m));
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	if (is_libcs(m))
		return REAL(pthread_mutex_unlock)(m);
	switch (kind_of(m)) {
	case PTHREAD_MUTEX_RECURSIVE_NP:
		if (!is_mine(m))
			return EPERM;
		if (--m->__data.__count != 0)
			return 0;
		break;
	case PTHREAD_MUTEX_ERRORCHECK_NP:
		if (!is_mine(m) || load_relaxed(word_of(m)) == 0)
			return EPERM;
		break;
	default:
		/* libc's does nothing to a free one; ours would wake. */
		if (unlikely(load_relaxed(word_of(m)) == 0))
			return 0;
	}
	release(m);
	return 0;
}

int wefti_mutex_may_wait(const pthread_mutex_t *m)
{
	return kind_of(m) != PTHREAD_MUTEX_ERRORCHECK_NP || is_libcs(m) ||
	       is_mine(m);
}

EXPORT int pthread_mutex_destroy(pthread_mutex_t *m)
{
	if (is_libcs(m))
		return REAL(pthread_mutex_destroy)(m);
	if (load_relaxed(word_of(m)) != 0)
		return EBUSY;
	m->__data.__kind = -1;
	return 0;
}

/* Old names of the same, by which C++ libraries of the time call them. */
#define OLD_NAME(name)						\
	EXPORT int __pthread_mutex_##name(pthread_mutex_t *m)	\
	{							\
		return pthread_mutex_##name(m);			\
	}

OLD_NAME(lock)
OLD_NAME(trylock)
OLD_NAME(unlock)
OLD_NAME(destroy)
