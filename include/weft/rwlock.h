/* SPDX-License-Identifier: MIT */
/*
 * weft/rwlock.h - many readers or one writer
 *
 * Zero-filled is unlocked. Who comes while others wait queues behind them, so
 * neither readers nor writers starve; readers that stand together in the queue
 * are let in together. A thread that reads must therefore not read-lock again.
 */
#ifndef WEFT_RWLOCK_H
#define WEFT_RWLOCK_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_rwlock {
	uint64_t weft_private[6];
};

#define WEFT_RWLOCK_INIT	{ { 0, 0, 0, 0, 0, 0 } }

/*
 * weft_rwlock_read, weft_rwlock_read_until, weft_rwlock_try_read - lock to read
 *
 * Returns 0, else
 *   -EBUSY      (try, or WEFT_NO_WAIT) a writer has it or threads wait
 *   -EDEADLK    the caller has it as the writer
 *   -ETIMEDOUT  not before the deadline
 *   -EAGAIN     2^20 - 1 readers have it
 *   -ENOMEM     as for weft_mutex_lock()
 *
 * Blocks     may park (not try). Not cancelled.
 * Orders     the writer's unlock before happens before the return.
 * Progress   lock-free: the call returns or parks whatever others do.
 * Fairness   first come, first served.
 * Since      0.1
 */
WEFT_API int weft_rwlock_read(struct weft_rwlock *lock);
WEFT_API WEFT_MUST_USE int weft_rwlock_read_until(struct weft_rwlock *lock,
	int64_t deadline);
WEFT_API WEFT_MUST_USE int weft_rwlock_try_read(struct weft_rwlock *lock);

/*
 * weft_rwlock_write, weft_rwlock_write_until, weft_rwlock_try_write - lock to
 * write
 *
 * Returns 0, else
 *   -EBUSY      (try, or WEFT_NO_WAIT) others have it or wait
 *   -EDEADLK    the caller has it as the writer
 *   -ETIMEDOUT  not before the deadline
 *   -ENOMEM     as for weft_mutex_lock()
 *
 * Blocks     may park (not try). Not cancelled.
 * Orders     every unlock before happens before the return.
 * Progress   lock-free: the call returns or parks whatever others do.
 * Fairness   first come, first served.
 * Since      0.1
 */
WEFT_API int weft_rwlock_write(struct weft_rwlock *lock);
WEFT_API WEFT_MUST_USE int weft_rwlock_write_until(struct weft_rwlock *lock,
	int64_t deadline);
WEFT_API WEFT_MUST_USE int weft_rwlock_try_write(struct weft_rwlock *lock);

/*
 * weft_rwlock_unlock - give up what the caller has
 *
 * Returns 0, or -EPERM: nobody has it, or another thread as the writer.
 *
 * Blocks     never.
 * Progress   lock-free. One thread at a time lets in those that wait; others
 *            leave their unlocks to it meanwhile. So while a kernel thread is
 *            stopped in a call on the lock, those that wait for it can be let
 *            in late. No call is late.
 * Since      0.1
 */
WEFT_API int weft_rwlock_unlock(struct weft_rwlock *lock);

/*
 * weft_rwlock_destroy - end a lock's life
 *
 * Returns 0, or -EBUSY: it is locked.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_rwlock_destroy(struct weft_rwlock *lock);

#ifdef __cplusplus
}
#endif
#endif
