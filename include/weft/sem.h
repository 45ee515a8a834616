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
 *   value  the first value
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
 *   deadline  a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * Waits until the value is over 0, and subtracts 1.
 *
 * Returns 0 if one was taken, else
 *   -EAGAIN     (try, or WEFT_NO_WAIT) the value was 0, or threads wait
 *   -ETIMEDOUT  the deadline passed; none was taken
 *   -ECANCELED  the thread is cancelled; none was taken
 *   -ENOMEM     see weft_mutex_lock()
 *
 * Blocks     may park (not try).
 * Orders     the post that made the wait possible happens before the return.
 * Progress   lock-free: the call returns or parks, whatever other threads do.
 * Fairness   waiting threads are served first come, first served.
 * Since      0.1
 */
WEFT_API int weft_sem_wait(struct weft_sem *sem);
WEFT_API WEFT_MUST_USE int weft_sem_wait_until(struct weft_sem *sem,
	int64_t deadline);
WEFT_API WEFT_MUST_USE int weft_sem_try_wait(struct weft_sem *sem);

/*
 * weft_sem_post - add one, or hand it to the first waiting thread
 *
 * Returns 0, or -EOVERFLOW: the value is WEFT_SEM_MAX.
 *
 * Blocks     never. May be called from a signal handler, like sem_post().
 * Progress   lock-free. One thread at a time wakes the waiting threads; other posts
 *            leave their wake-ups to it. So while a kernel thread is stopped in a
 *            call on the semaphore, waiting threads may be woken late. No call is
 *            delayed.
 * Since      0.1
 */
WEFT_API int weft_sem_post(struct weft_sem *sem);

/*
 * weft_sem_value - the value at some moment during the call
 *
 * Returns the value; 0 if threads wait.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API unsigned weft_sem_value(struct weft_sem *sem);

/*
 * weft_sem_destroy - end a semaphore's life
 *
 * The thread that took the last unit may destroy and free the semaphore, even if the
 * post of that unit has not returned yet.
 *
 * Returns 0, or -EBUSY: threads wait.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API int weft_sem_destroy(struct weft_sem *sem);

#ifdef __cplusplus
}
#endif
#endif
