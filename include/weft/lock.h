/* SPDX-License-Identifier: MIT */
/*
 * weft/lock.h - a lock in one 32-bit word, for short sections of kernel threads
 *
 * One atomic instruction to lock and one to unlock where nobody competes; who
 * does compete spins for a moment and then sleeps in the kernel. Zero-filled is
 * unlocked, and there is nothing to destroy. unlock never looks at the word
 * after the instruction that unlocks it, so that the next owner may free or
 * reuse the memory at once.
 *
 * weft_lock_* is for the threads of one process, weft_plock_* also for those of
 * several, in memory that they have mapped shared. No function starts the
 * runtime. A program whose threads are weft's, with sections that can last or
 * park, wants weft_mutex_lock(): a lock stops the kernel thread, and with it the
 * VCPU.
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
 * weft_lock_lock, weft_plock_lock - wait until nobody has the lock, and take it
 *
 * Blocks     the kernel thread, also under a thread of weft. It is no point of
 *            cancellation, and signals do not end it.
 * Orders     the unlock before happens before the return.
 * Fairness   none: a thread that arrives may take the lock before one that
 *            sleeps. Up to 2^30 - 2 threads may wait.
 * Not for    a thread that has it (it waits for itself for ever); a signal
 *            handler that may interrupt an owner; sections in which a thread
 *            of weft parks. The lock of a process that died stays locked.
 * See        weft_preempt_off(), weft_mutex_lock()
 * Source     J. Gustedt, "Futex based locks for C11's generic atomics", 2015.
 * Since      0.1
 */
WEFT_API void weft_lock_lock(struct weft_lock *lock);
WEFT_API void weft_plock_lock(struct weft_plock *lock);

/*
 * weft_lock_try_lock, weft_plock_try_lock - take the lock if nobody has it
 *
 * Returns 0 when the caller has it now, or -EBUSY: somebody has it, or
 *   another thread came or went at the same moment.
 *
 * Blocks     never.
 * Orders     as weft_lock_lock(), when it returned 0.
 * Progress   wait-free.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_lock_try_lock(struct weft_lock *lock);
WEFT_API WEFT_MUST_USE int weft_plock_try_lock(struct weft_plock *lock);

/*
 * weft_lock_unlock, weft_plock_unlock - let others have it
 *
 * Any thread may do it for the one that locked. The lock may be freed as soon as
 * somebody else could take it: a wake-up that is still to come then goes to an
 * address that means something else, where a futex may be woken for no reason,
 * which every user of futexes expects anyway.
 *
 * Blocks     never.
 * Orders     see weft_lock_lock().
 * Progress   lock-free; a system call when others sleep.
 * Not for    a lock that nobody has: the word is then corrupt.
 * Since      0.1
 */
WEFT_API void weft_lock_unlock(struct weft_lock *lock);
WEFT_API void weft_plock_unlock(struct weft_plock *lock);

/*
 * weft_preempt_off, weft_preempt_on - a short section that is not interrupted
 *
 *   held  what weft_preempt_off() has returned, in the same thread
 *
 * Between the two weft neither preempts the calling thread nor takes its VCPU,
 * so that an owner of a lock is not stopped while others sleep for it (Linux
 * may do so at any time). For some hundred instructions at most, without other
 * calls of weft than those of weft_lock_lock() in between. They nest. In a
 * kernel thread that is not weft's, and where the runtime was not started, they
 * do nothing.
 *
 * Blocks     never; weft_preempt_off() may give way to a request that came
 *            before it.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE void *weft_preempt_off(void);
WEFT_API void weft_preempt_on(void *held);

#ifdef __cplusplus
}
#endif
#endif
