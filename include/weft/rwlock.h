/* SPDX-License-Identifier: MIT */
/*
 * weft/rwlock.h - many readers or one writer
 *
 * Zero-filled is unlocked. A thread that arrives while others wait queues behind them, so
 * neither readers nor writers starve. Readers that are next to each other in the queue
 * get the lock together. A thread that has the lock as a reader must not lock it again.
 * If it locks as a writer, it waits for itself. If it locks as a reader, it may queue
 * behind a writer that waits for its first lock.
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
 * weft_rwlock_read, weft_rwlock_read_until, weft_rwlock_try_read - lock as a reader
 *
 *   deadline  a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * weft_rwlock_read() returns no other errors than -EDEADLK, -EAGAIN and -ENOMEM. Its
 * result may be dropped in a program where these cannot come.
 *
 * Returns 0, else
 *   -EBUSY      (try, or WEFT_NO_WAIT) a writer has the lock, or threads wait
 *   -EDEADLK    the caller has the lock as the writer
 *   -ETIMEDOUT  the lock was not available before the deadline
 *   -EAGAIN     2^20 - 1 readers have the lock
 *   -ENOMEM     see weft_mutex_lock()
 *
 * Blocks     may park (not try). Not cancelled.
 * Orders     the previous writer's unlock happens before the return.
 * Progress   lock-free: the call returns or parks, whatever other threads do.
 * Fairness   first come, first served.
 * Since      0.1
 */
WEFT_API int weft_rwlock_read(struct weft_rwlock *lock);
WEFT_API WEFT_MUST_USE int weft_rwlock_read_until(struct weft_rwlock *lock,
	int64_t deadline);
WEFT_API WEFT_MUST_USE int weft_rwlock_try_read(struct weft_rwlock *lock);

/*
 * weft_rwlock_write, weft_rwlock_write_until, weft_rwlock_try_write - lock as the writer
 *
 *   deadline  a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * weft_rwlock_write() returns no other errors than -EDEADLK and -ENOMEM. Its result may be
 * dropped in a program where these cannot come.
 *
 * Returns 0, else
 *   -EBUSY      (try, or WEFT_NO_WAIT) other threads have the lock, or wait
 *   -EDEADLK    the caller has the lock as the writer
 *   -ETIMEDOUT  the lock was not available before the deadline
 *   -ENOMEM     see weft_mutex_lock()
 *
 * Blocks     may park (not try). Not cancelled.
 * Orders     every previous unlock happens before the return.
 * Progress   lock-free: the call returns or parks, whatever other threads do.
 * Fairness   first come, first served.
 * Since      0.1
 */
WEFT_API int weft_rwlock_write(struct weft_rwlock *lock);
WEFT_API WEFT_MUST_USE int weft_rwlock_write_until(struct weft_rwlock *lock,
	int64_t deadline);
WEFT_API WEFT_MUST_USE int weft_rwlock_try_write(struct weft_rwlock *lock);

/*
 * weft_rwlock_unlock - give up the caller's lock, as reader or writer
 *
 * Returns 0, or -EPERM: the lock is not locked, or another thread has it as the writer.
 * If readers have the lock, the call does not check that the caller is one of them.
 *
 * Blocks     never.
 * Progress   lock-free. One thread at a time lets waiting threads in; other calls
 *            leave their unlocks to it. So while a kernel thread is stopped in a
 *            call on the lock, waiting threads may be let in late. No call is
 *            delayed.
 * Since      0.1
 */
WEFT_API int weft_rwlock_unlock(struct weft_rwlock *lock);

/*
 * weft_rwlock_destroy - end a lock's life
 *
 * Returns 0, or -EBUSY: the lock is locked.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API int weft_rwlock_destroy(struct weft_rwlock *lock);

#ifdef __cplusplus
}
#endif
#endif
