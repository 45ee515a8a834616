/* SPDX-License-Identifier: MIT */
/*
 * weft/mutex.h - the hand-off mutex
 *
 * No thread and no kernel thread ever spins for another: a thread that finds
 * the mutex taken queues itself and parks, in one step, and an unlock hands
 * the mutex on or wakes the next in line. Zero-filled is unlocked (adaptive).
 *
 * Two policies:
 *   adaptive  A running thread may take a free mutex ahead of parked ones. The
 *             first unlock after the oldest waiter has waited 1 ms hands the
 *             mutex to it, and so on while the next in line has waited as long.
 *   strict    Unlock hands the mutex to the next in line, in order of arrival. When
 *             heirs are found to wait for a VCPU, unlock gives them the caller's.
 *
 * The last unlock may be followed at once by another thread's destroy and free.
 */
#ifndef WEFT_MUTEX_H
#define WEFT_MUTEX_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_mutex {
	uint64_t weft_private[5];
};

#define WEFT_MUTEX_ADAPTIVE	0u
#define WEFT_MUTEX_STRICT	1u

#define WEFT_MUTEX_INIT		{ { 0, 0, 0, 0, 0 } }
#define WEFT_MUTEX_STRICT_INIT	{ { 0, 0, 1, 0, 0 } }

/*
 * weft_mutex_init - make a mutex of a policy
 *
 *   mutex   any memory; must not be in use as a mutex
 *   policy  WEFT_MUTEX_ADAPTIVE or WEFT_MUTEX_STRICT
 *
 * Returns 0, or -EINVAL: no such policy.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_mutex_init(struct weft_mutex *mutex,
	unsigned policy);

/*
 * weft_mutex_destroy - end a mutex's life
 *
 * Memory of a mutex that is unlocked may also simply be freed.
 *
 * Returns 0, or -EBUSY: it is locked.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_mutex_destroy(struct weft_mutex *mutex);

/*
 * weft_mutex_lock, weft_mutex_lock_until - take the mutex
 *
 *   deadline  see weft/base.h
 *
 * Returns 0, else
 *   -EDEADLK    the caller has it already
 *   -ETIMEDOUT  it was not free before the deadline
 *   -EBUSY      it is not free and deadline is WEFT_NO_WAIT
 *   -ENOMEM     only after a time-out of this thread on this or another mutex:
 *               no memory for another place in the queue
 *
 * Blocks     may park. Not cancelled.
 * Orders     the unlock before happens before the return of lock.
 * Progress   lock-free: the call returns or parks whatever others do. Strict:
 *            every waiter gets the mutex if every owner unlocks.
 * Fairness   by policy, see above.
 * Source     A. Gidenstam, M. Papatriantafilou, "LFthreads: a lock-free thread
 *            library", OPODIS 2007.
 * Since      0.1
 */
WEFT_API int weft_mutex_lock(struct weft_mutex *mutex);
WEFT_API WEFT_MUST_USE int weft_mutex_lock_until(struct weft_mutex *mutex,
	int64_t deadline);

/*
 * weft_mutex_try_lock - take the mutex if it is free
 *
 * Returns 0, or -EBUSY (the caller may be its owner). Under the strict policy a
 * mutex with waiters is not free.
 *
 * Blocks     never.
 * Orders     as weft_mutex_lock(), when it returns 0.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_mutex_try_lock(struct weft_mutex *mutex);

/*
 * weft_mutex_unlock - give the mutex up
 *
 * Returns 0, or -EPERM: the caller does not have it; nothing was changed.
 *
 * Blocks     never. Under the strict policy it may yield, behind its last access
 *            to the mutex.
 * Orders     happens before the return of the lock that follows.
 * Progress   lock-free.
 * Since      0.1
 */
WEFT_API int weft_mutex_unlock(struct weft_mutex *mutex);

#ifdef __cplusplus
}
#endif
#endif
