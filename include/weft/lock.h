/* SPDX-License-Identifier: MIT */
/*
 * weft/lock.h - a lock in one 32-bit word, for short sections of kernel threads
 *
 * If no other thread competes, a lock takes one atomic instruction, and so does an
 * unlock. A thread that does compete spins for about a microsecond and then sleeps in the
 * kernel. Zero-filled is unlocked, and there is nothing to destroy. Unlock never looks
 * at the word after the instruction that unlocks it, so the next owner may free or
 * reuse the memory at once.
 *
 * weft_lock_* is for the threads of one process. weft_plock_* is also for the threads
 * of several processes, in memory that they have mapped shared. No function starts the
 * runtime.
 *
 * A lock blocks the kernel thread, and with it the VCPU. Threads of weft should use
 * weft_mutex_lock() for sections that can take long or park.
 */
#ifndef WEFT_LOCK_H
#define WEFT_LOCK_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_lock {
	uint32_t weft_private;
};

struct weft_plock {
	uint32_t weft_private;
};

#define WEFT_LOCK_INIT	{ 0 }
#define WEFT_PLOCK_INIT	{ 0 }

/*
 * weft_lock_lock, weft_plock_lock - take the lock, waiting until it is free
 *
 * Blocks     the kernel thread, also if the caller is a thread of weft. The call is
 *            not a cancellation point, and signals do not end it.
 * Orders     the previous unlock happens before the return.
 * Fairness   none: a newly arrived thread may take the lock before a sleeping one. Up
 *            to 2^30 - 2 threads may wait.
 * Not for    a thread that owns the lock (it would wait for ever); a signal handler
 *            that may interrupt the owner; sections in which a thread of weft parks.
 *            The lock of a process that died stays locked.
 * See        weft_preempt_off(), weft_mutex_lock()
 * Source     J. Gustedt, "Futex based locks for C11's generic atomics", 2015.
 * Since      0.1
 */
WEFT_API void weft_lock_lock(struct weft_lock *lock);
WEFT_API void weft_plock_lock(struct weft_plock *lock);

/*
 * weft_lock_try_lock, weft_plock_try_lock - take the lock if it is free
 *
 * Returns 0 if the caller now owns the lock. -EBUSY: another thread owns it, or
 * another thread came or went at the same moment.
 *
 * Blocks     never.
 * Orders     as weft_lock_lock(), if it returned 0.
 * Progress   wait-free.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_lock_try_lock(struct weft_lock *lock);
WEFT_API WEFT_MUST_USE int weft_plock_try_lock(struct weft_plock *lock);

/*
 * weft_lock_unlock, weft_plock_unlock - give the lock up
 *
 * Any thread may unlock, not only the one that locked.
 *
 * The memory of the lock may be freed as soon as another thread could take the lock. A
 * futex wake-up for the old lock may then still reach that address. If something else
 * uses a futex there, it sees a spurious wake-up, which every user of futexes must
 * expect anyway.
 *
 * Blocks     never.
 * Orders     see weft_lock_lock().
 * Progress   lock-free; it makes a system call if other threads sleep.
 * Not for    a lock that is not locked: its word is corrupt afterwards.
 * Since      0.1
 */
WEFT_API void weft_lock_unlock(struct weft_lock *lock);
WEFT_API void weft_plock_unlock(struct weft_plock *lock);

/*
 * weft_preempt_off, weft_preempt_on - a short section that weft does not interrupt
 *
 *   held  what weft_preempt_off() returned, in the same thread
 *
 * Between the two calls weft neither preempts the calling thread nor takes its VCPU. So
 * the owner of a lock is not stopped while other threads sleep for that lock. (Linux may
 * still stop the kernel thread at any time.)
 *
 * The section may take some hundred instructions at most. It may call weft_lock_lock()
 * and the other functions of locks, and no other function of weft. Sections nest. In a
 * foreign thread, and while the runtime is not running, the two calls do nothing.
 *
 * Blocks     never; but weft_preempt_off() may yield, if a request to do so came
 *            before it.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE void *weft_preempt_off(void);
WEFT_API void weft_preempt_on(void *held);

#ifdef __cplusplus
}
#endif
#endif
