/* SPDX-License-Identifier: MIT */
/*
 * pthread/sync/mutex.c - mutexes, in glibc's layout
 *
 * Structure
 *   __lock   the state
 *   __owner  the owner's id (pthread/core/self.h), __count of a recursive one
 *   __kind   as glibc's initializers and pthread_mutex_init() set it
 *   The waiting threads are in the lot (pthread/wait/lot.c), those of a shared mutex in the
 *   kernel.
 *
 * glibc's own functions use the fields in the same way. So libc's functions that only
 * read or initialize a mutex are still used, and a mutex may be shared with processes
 * without weft. In a shared mutex, __owner is the guard (pthread/shared/shared.h).
 * __list, which libc does not use here, says which thread it is. Robust mutexes are in
 * pthread/shared/robust.c. Before the runtime is started, shared and robust mutexes are
 * libc's.
 *
 * A mutex that inherits priorities is like any other if all its threads are green. If it
 * is shared too, it is in pthread/shared/pi.c; one with a ceiling is in ceiling.c.
 *
 * A newcomer may take the lock before a waiter. A hand-off ends a wait of a millisecond.
 *
 * States of __lock
 *   FREE    0
 *   TAKEN   1
 *   WAITED  2: taken, and maybe waited for. It may be so without a waiting thread
 *
 *   FREE --lock, try--> TAKEN --unlock--> FREE
 *   FREE, TAKEN, WAITED --a thread that will wait: xchg--> WAITED; from FREE it has the lock
 *   WAITED --unlock--> FREE, and one waiting thread is woken
 *   WAITED --unlock, the lot's first has waited for a millisecond--> WAITED by that thread
 *
 * Writers
 *   *word_of()  release, release_shared, take, wait_for, wait_shared; lot.c: wefti_lot_unlock
 *
 * Invariants
 *   I1  While threads wait, the state is WAITED, or one of them was woken and is on its
 *       way to the xchg that makes it so. A thread that was woken and does not go there,
 *       as a handler runs, has another one woken first (wefti_lot_run_handlers).
 *   I2  A thread is put into the lot only if the state is WAITED there, under the bucket's
 *       lock, which the unlock of a WAITED mutex takes too.
 *   I3  Unlock's last access to the mutex is the one that releases it, because the next
 *       owner may free the mutex.
 *
 * Linearization
 *   lock: at the CAS or xchg that finds FREE, or where the unlock hands over. unlock: at
 *   the CAS, or at the store of 0 or the hand-off in the lot.
 *
 * Progress
 *   Blocking, as a mutex is. The lock of a FREE mutex and the unlock of a TAKEN one are
 *   wait-free. A thread that waits, and the unlock of a WAITED one, take the bucket's lock,
 *   under which no thread parks or is preempted (lot.c).
 *
 * ABA and reclamation
 *   A CAS from 0 or from 1 means nothing but the value. Entries of the lot are on the
 *   stacks of their threads.
 *
 * Pairs
 *   P1  unlock stores 0, or hands over  ->  lock: what the mutex protects
 *   Model: the scenarios lot_lock* of tests/model/loom/c/lot.c.
 *
 * Source
 *   U. Drepper, "Futexes are tricky", 2011, for the three states; lot.c has the rest.
 */
#include "pthread/sync/mutex.h"

#include <errno.h>
#include <linux/futex.h>

#include "os/call/tid.h"
#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/core/started.h"
#include "pthread/core/time.h"
#include "pthread/shared/mutex_owner.h"
#include "pthread/shared/pi.h"
#include "pthread/shared/robust.h"
#include "pthread/shared/shared.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/signal.h"
#include "pthread/sync/ceiling.h"
#include "pthread/wait/lot.h"
#include "weft/thread.h"

static _Atomic uint32_t *word_of(const pthread_mutex_t *m)
{
	return (_Atomic uint32_t *)(uintptr_t)&m->__data.__lock;
}

/* Is m more than a plain lock of this process? */
static int is_special(const pthread_mutex_t *m)
{
	return unlikely(m->__data.__kind & (WEFTI_MUTEX_ROBUST | WEFTI_MUTEX_SHARED |
					    WEFTI_MUTEX_PROTECT));
}

static int is_robust(const pthread_mutex_t *m)
{
	return unlikely(m->__data.__kind & WEFTI_MUTEX_ROBUST);
}

/* Does its protocol need pthread/sync/ceiling.c or pthread/shared/pi.c? */
static int has_protocol(const pthread_mutex_t *m)
{
	const int kind = m->__data.__kind;

	return (kind & WEFTI_MUTEX_PROTECT) ||
	       ((kind & WEFTI_MUTEX_INHERIT) && (kind & WEFTI_MUTEX_SHARED));
}

static int is_contended(void *arg)
{
	return load_relaxed((_Atomic uint32_t *)arg) == 2;
}

/* Returns 0 or ETIMEDOUT. */
static int wait_shared(_Atomic uint32_t *word, int64_t deadline)
{
	struct wefti_watch *watch = wefti_watch_begin(word, WEFTI_WATCH_LOCK);
	int error = 0;

	while (!error && xchg_acquire(word, 2) != 0)	/* P1 */
		error = wefti_shared_wait(&watch, WEFTI_WATCH_LOCK, word, 2,
					  deadline);
	if (watch)
		wefti_watch_end(watch);
	return error;
}

static int wait_for(pthread_mutex_t *m, int64_t deadline)
{
	_Atomic uint32_t *word = word_of(m);
	const struct wefti_lot_wait w = {
		.key = word, .check = is_contended, .arg = word,
		.deadline = deadline, .owner = wefti_mutex_owner(m),
		.why = WEFTI_WHY_MUTEX, .urgent = wefti_cancel_urgent(),
	};

	if (wefti_mutex_is_shared(m))
		return wait_shared(word, deadline);
	while (xchg_acquire(word, 2) != 0) {	/* P1 */
		switch (wefti_lot_wait(&w)) {
		case WEFTI_LOT_HANDED:
			if (!wefti_pt_is_urgent(w.urgent))
				return 0;
			wefti_lot_unlock(word);	/* a handler may jump away */
			wefti_cancel_point_async();
			wefti_signals_run();
			break;
		case WEFTI_LOT_TIMEDOUT:
			return ETIMEDOUT;
		case WEFTI_LOT_INTERRUPTED:
			wefti_cancel_point_async();
			wefti_signals_run();
			break;
		default:
			wefti_lot_run_handlers(word);
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

static inline void begin_to_own(pthread_mutex_t *m)
{
	wefti_mutex_own(m);
	if (wefti_mutex_kind(m) == PTHREAD_MUTEX_RECURSIVE_NP)
		m->__data.__count = 1;
}

static NOINLINE int lock_late(pthread_mutex_t *m, int64_t deadline)
{
	const int error = wait_for(m, deadline);

	if (!error)
		begin_to_own(m);
	wefti_signals_run_any();
	return error;
}

static int lock_until(pthread_mutex_t *m, int64_t deadline)
{
	int kind = wefti_mutex_kind(m);

	if (kind == PTHREAD_MUTEX_RECURSIVE_NP ||
	    kind == PTHREAD_MUTEX_ERRORCHECK_NP) {
		int error = wefti_mutex_again(m);

		if (error >= 0)
			return error;
	}
	if (!take(m))
		return lock_late(m, deadline);
	begin_to_own(m);
	return 0;
}

static int lock_with_protocol(pthread_mutex_t *m, int64_t deadline)
{
	return m->__data.__kind & WEFTI_MUTEX_PROTECT ?
	       wefti_ceiling_lock(m, deadline) : wefti_pi_lock(m, deadline);
}

/* deadline INT64_MAX: pthread_mutex_lock(). */
static NOINLINE int lock_special(pthread_mutex_t *m, int64_t deadline)
{
	if (has_protocol(m))
		return lock_with_protocol(m, deadline);
	return is_robust(m) ? wefti_robust_lock(m, deadline) :
			      lock_until(m, deadline);
}

static NOINLINE int lock_other(pthread_mutex_t *m)
{
	if (is_special(m))
		return wefti_guard() ? lock_special(m, INT64_MAX) :
				       REAL(pthread_mutex_lock)(m);
	return lock_until(m, INT64_MAX);
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	if (wefti_is_aside())
		return REAL(pthread_mutex_lock)(m);
	if (!wefti_mutex_is_plain(m))
		return lock_other(m);
	if (unlikely(!take(m)))
		return lock_late(m, INT64_MAX);
	wefti_mutex_own_here(m);
	return 0;
}
SECOND_NAME(pthread_mutex_lock, __pthread_mutex_lock);

/* libc's own reports an error here only where the kernel would know. */
static int inherits_and_checks(const pthread_mutex_t *m)
{
	return wefti_mutex_kind(m) == PTHREAD_MUTEX_ERRORCHECK_NP &&
	       (m->__data.__kind & WEFTI_MUTEX_INHERIT);
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *m)
{
	if (wefti_is_aside())
		return REAL(pthread_mutex_trylock)(m);
	if (is_special(m) && !wefti_guard())
		return REAL(pthread_mutex_trylock)(m);
	if (is_special(m) && has_protocol(m))
		return lock_with_protocol(m, WEFT_NO_WAIT);
	if (is_robust(m))
		return wefti_robust_lock(m, WEFT_NO_WAIT);
	if (wefti_mutex_kind(m) == PTHREAD_MUTEX_RECURSIVE_NP) {
		int error = wefti_mutex_again(m);

		if (error >= 0)
			return error;
	}
	if (!take(m))
		return inherits_and_checks(m) && wefti_mutex_is_mine(m) ? EDEADLK : EBUSY;
	begin_to_own(m);
	return 0;
}
SECOND_NAME(pthread_mutex_trylock, __pthread_mutex_trylock);

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
				   const struct timespec *at)
{
	int error;

	if (wefti_is_aside())
		return REAL(pthread_mutex_clocklock)(m, clock, at);
	if (is_special(m) && !wefti_guard())
		return REAL(pthread_mutex_clocklock)(m, clock, at);
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
		return EINVAL;
	error = pthread_mutex_trylock(m);
	if (error != EBUSY)
		return error;
	if (wefti_mutex_kind(m) == PTHREAD_MUTEX_ERRORCHECK_NP && wefti_mutex_is_mine(m))
		return EDEADLK;
	if (!wefti_time_is_valid(at))
		return EINVAL;
	return is_special(m) ?
	       lock_special(m, wefti_time_deadline(clock, at)) :
	       lock_until(m, wefti_time_deadline(clock, at));
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m,
				   const struct timespec *at)
{
	if (wefti_is_aside())
		return REAL(pthread_mutex_timedlock)(m, at);
	return pthread_mutex_clocklock(m, CLOCK_REALTIME, at);
}

static inline void release(pthread_mutex_t *m)
{
	uint32_t taken = 1;

	wefti_mutex_disown_here(m);
	if (unlikely(!cas_release(word_of(m), &taken, 0))) {	/* P1 */
		wefti_lot_unlock(word_of(m));
		wefti_signals_run_any();
	}
}

static void release_shared(pthread_mutex_t *m)
{
	wefti_mutex_disown(m);
	if (xchg_release(word_of(m), 0) == 2)	/* P1 */
		wefti_shared_wake(word_of(m));
	wefti_signals_run_any();
}

/* For a mutex without a protocol, and not robust. */
static int unlock_checked(pthread_mutex_t *m)
{
	switch (m->__data.__kind & (WEFTI_MUTEX_KIND_MASK | WEFTI_MUTEX_INHERIT)) {
	case PTHREAD_MUTEX_RECURSIVE_NP:
	case PTHREAD_MUTEX_RECURSIVE_NP | WEFTI_MUTEX_INHERIT:
		if (!wefti_mutex_is_mine(m))
			return EPERM;
		if (--m->__data.__count != 0)
			return 0;
		break;
	case PTHREAD_MUTEX_TIMED_NP:
	case PTHREAD_MUTEX_ADAPTIVE_NP:
		if (load_relaxed(word_of(m)) == 0)
			return 0;
		break;
	default:
		if (!wefti_mutex_is_mine(m) || load_relaxed(word_of(m)) == 0)
			return EPERM;
	}
	if (wefti_mutex_is_shared(m))
		release_shared(m);
	else
		release(m);
	return 0;
}

static NOINLINE int unlock_other(pthread_mutex_t *m)
{
	if (is_special(m) && !wefti_guard())
		return REAL(pthread_mutex_unlock)(m);
	if (is_special(m) && has_protocol(m))
		return m->__data.__kind & WEFTI_MUTEX_PROTECT ?
		       wefti_ceiling_unlock(m) : wefti_pi_unlock(m);
	return is_robust(m) ? wefti_robust_unlock(m) : unlock_checked(m);
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	if (wefti_is_aside())
		return REAL(pthread_mutex_unlock)(m);
	if (!wefti_mutex_is_plain(m))
		return unlock_other(m);
	/* libc's own does nothing to a free mutex; ours would wake a thread. */
	if (likely(load_relaxed(word_of(m)) != 0))
		release(m);
	return 0;
}
SECOND_NAME(pthread_mutex_unlock, __pthread_mutex_unlock);

int wefti_mutex_may_wait_other(const pthread_mutex_t *m)
{
	if (is_special(m) && has_protocol(m) && (m->__data.__kind & WEFTI_MUTEX_INHERIT))
		return wefti_pi_is_mine(m);
	if (is_robust(m))
		return wefti_guard() ? wefti_robust_is_mine(m) :
		       (load_relaxed(word_of(m)) & FUTEX_TID_MASK) ==
		       (uint32_t)wefti_os_gettid();
	switch (m->__data.__kind & (WEFTI_MUTEX_KIND_MASK | WEFTI_MUTEX_INHERIT)) {
	case PTHREAD_MUTEX_TIMED_NP:
	case PTHREAD_MUTEX_ADAPTIVE_NP:
		return 1;
	default:
		return wefti_mutex_is_mine(m);
	}
}

EXPORT int pthread_mutex_destroy(pthread_mutex_t *m)
{
	if (wefti_is_aside())
		return REAL(pthread_mutex_destroy)(m);
	if (is_special(m))
		return REAL(pthread_mutex_destroy)(m);
	if (load_relaxed(word_of(m)) != 0 || m->__data.__nusers != 0)
		return EBUSY;
	m->__data.__kind = -1;
	return 0;
}
SECOND_NAME(pthread_mutex_destroy, __pthread_mutex_destroy);
