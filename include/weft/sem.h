/* SPDX-License-Identifier: MIT */
/* weft/sem.h - counting semaphores; zero-filled has the value 0 */
#ifndef WEFT_SEM_H
#define WEFT_SEM_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_SEM_MAX	0x7fffffff

struct weft_sem {
	uint64_t weft_private[4];
};

#define WEFT_SEM_INIT	{ { 0, 0, 0, 0 } }

/*
 * weft_sem_init - make a semaphore
 *
 * Returns 0, or -EINVAL: value is over WEFT_SEM_MAX.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_sem_init(struct weft_sem *sem, unsigned value);

/*
 * weft_sem_wait, weft_sem_wait_until, weft_sem_try_wait - take one
 *
 * Returns 0 when the value was over 0 and is one less now, else
 *   -EAGAIN     (try, or WEFT_NO_WAIT) it was 0 or threads wait
 *   -ETIMEDOUT  not before the deadline; none was taken
 *   -ECANCELED  the thread is cancelled; none was taken
 *   -ENOMEM     as for weft_mutex_lock()
 *
 * Blocks     may park (not try).
 * Orders     the post that made it possible happens before the return.
 * Progress   lock-free: the call returns or parks whatever others do.
 * Fairness   threads that wait are served first come, first served.
 * Since      0.1
 */
WEFT_API int weft_sem_wait(struct weft_sem *sem);
WEFT_API WEFT_MUST_USE int weft_sem_wait_until(struct weft_sem *sem,
	int64_t deadline);
WEFT_API WEFT_MUST_USE int weft_sem_try_wait(struct weft_sem *sem);

/*
 * weft_sem_post - add one, or hand it to the first thread that waits
 *
 * Returns 0, or -EOVERFLOW: the value is WEFT_SEM_MAX.
 *
 * Blocks     never. May be called from a signal's handler, as sem_post() may.
 * Progress   lock-free. One thread at a time wakes those that wait; others that
 *            post meanwhile leave their wake-ups to it. So while a kernel thread
 *            is stopped in a call on the semaphore, wake-ups of its waiters can
 *            be late. No call is.
 * Since      0.1
 */
WEFT_API int weft_sem_post(struct weft_sem *sem);

/*
 * weft_sem_value - the value at some moment during the call
 *
 * Returns it; 0 when threads wait.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API unsigned weft_sem_value(struct weft_sem *sem);

/*
 * weft_sem_destroy - end a semaphore's life
 *
 * Returns 0, or -EBUSY: threads wait.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_sem_destroy(struct weft_sem *sem);

#ifdef __cplusplus
}
#endif
#endif
