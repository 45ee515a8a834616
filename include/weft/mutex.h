/* SPDX-License-Identifier: MIT */
/*
 * weft/mutex.h - the hand-off mutex
 *
 * A thread that finds the mutex taken queues itself and parks, in one step. No thread
 * spins. An unlock hands the mutex to the next thread in the queue, or wakes that
 * thread. Zero-filled is unlocked, with the adaptive policy.
 *
 * Two policies:
 *   adaptive  A running thread may take a free mutex ahead of parked threads. When
 *             the oldest waiting thread has waited for 1 ms, the next unlock hands
 *             the mutex to it. This goes on while the next thread in the queue has
 *             waited as long.
 *   strict    Each unlock hands the mutex to the next thread in order of arrival.
 *             When new owners are found to be waiting for a VCPU, unlock yields the
 *             caller's VCPU to them.
 *
 * A thread that has locked the mutex may unlock, destroy and free it, even if the
 * unlock of the previous owner has not returned yet.
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
 * weft_mutex_init - make a mutex with a policy
 *
 *   mutex   any memory; must not be in use as a mutex
 *   policy  WEFT_MUTEX_ADAPTIVE or WEFT_MUTEX_STRICT
 *
 * Returns 0, or -EINVAL: there is no such policy.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_mutex_init(struct weft_mutex *mutex,
	unsigned policy);

/*
 * weft_mutex_destroy - end a mutex's life
 *
 * The memory of an unlocked mutex may also be freed without this call.
 *
 * Returns 0, or -EBUSY: the mutex is locked.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API int weft_mutex_destroy(struct weft_mutex *mutex);

/*
 * weft_mutex_lock, weft_mutex_lock_until - take the mutex
 *
 *   deadline  a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * weft_mutex_lock() returns no other errors than -EDEADLK and -ENOMEM. So its result may
 * be dropped in a program where no thread locks a mutex that it owns, and no wait ends
 * early as explained for -ENOMEM. After any error the caller does not get the mutex.
 *
 * Returns 0, else
 *   -EDEADLK    the caller owns the mutex already
 *   -ETIMEDOUT  the mutex was not free before the deadline
 *   -EBUSY      the mutex is not free, and deadline is WEFT_NO_WAIT
 *   -ENOMEM     no memory for another place in the queue. Only possible if an earlier
 *               wait in the process ended early, by its deadline or a cancellation: for
 *               a mutex, a rwlock, a condition variable, a semaphore, a barrier or a
 *               once.
 *
 * Blocks     may park. Not cancelled.
 * Orders     the previous unlock happens before the return of lock.
 * Progress   lock-free: the call returns or parks, whatever other threads do. With
 *            the strict policy, every waiting thread gets the mutex if every owner
 *            unlocks it.
 * Fairness   strict: in order of arrival. adaptive: a running thread may go first,
 *            until the oldest waiting thread has waited for 1 ms.
 * See        weft_mutex_init(), weft_mutex_unlock()
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
 * Returns 0, or -EBUSY: the mutex is not free (its owner may be the caller). With the
 * strict policy, a mutex that threads wait for is not free.
 *
 * Blocks     never.
 * Orders     as weft_mutex_lock(), if it returns 0.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_mutex_try_lock(struct weft_mutex *mutex);

/*
 * weft_mutex_unlock - give the mutex up
 *
 * Returns 0, or -EPERM: the caller does not own the mutex; nothing was changed.
 *
 * Blocks     never. With the strict policy the call may yield, after its last access
 *            to the mutex.
 * Orders     the unlock happens before the return of the next lock.
 * Progress   lock-free.
 * Since      0.1
 */
WEFT_API int weft_mutex_unlock(struct weft_mutex *mutex);

#ifdef __cplusplus
}
#endif
#endif
