/* SPDX-License-Identifier: MIT */
/*
 * weft/cond.h - condition variables
 *
 * Zero-filled is valid: no thread waits. All threads that wait on a condition variable
 * at the same time must use the same mutex.
 */
#ifndef WEFT_COND_H
#define WEFT_COND_H

#include <weft/mutex.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_cond {
	uint64_t weft_private[6];
};

#define WEFT_COND_INIT	{ { 0, 0, 0, 0, 0, 0 } }

/*
 * weft_cond_wait, weft_cond_wait_until - give up a mutex and wait, in one step
 *
 *   mutex     owned by the caller; owned again on every return except -EPERM
 *   deadline  a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * Returns 0 when a signal or broadcast has woken the thread (there are no spurious
 * wake-ups), else
 *   -ETIMEDOUT  no signal came before the deadline, or it was WEFT_NO_WAIT; none was
 *               consumed
 *   -ECANCELED  the thread is cancelled; no signal was consumed
 *   -EPERM      the caller does not own the mutex
 *   -ENOMEM     see weft_mutex_lock(); the thread did not wait
 *
 * The caller must still check its condition again: another thread may have changed it
 * before the caller had the mutex back.
 *
 * Blocks     may park, also after the deadline: until the caller has the mutex again.
 *            Even with WEFT_NO_WAIT it gives the mutex up for a moment.
 * Orders     the signal happens before the return.
 * Progress   lock-free: the call returns or parks, whatever other threads do.
 * Fairness   threads are woken in the order in which they began to wait.
 * Since      0.1
 */
WEFT_API int weft_cond_wait(struct weft_cond *cond, struct weft_mutex *mutex);
WEFT_API WEFT_MUST_USE int weft_cond_wait_until(struct weft_cond *cond,
	struct weft_mutex *mutex, int64_t deadline);

/*
 * weft_cond_signal, weft_cond_broadcast - wake one waiting thread, or all of them
 *
 * The caller need not own the mutex. A broadcast does not make all threads ready at
 * once if the mutex is taken: it moves them to the queue of the mutex.
 *
 * Returns 0.
 *
 * Blocks     never.
 * Progress   lock-free. One thread at a time wakes the waiting threads; other calls
 *            leave their signals to it. So while a kernel thread is stopped in a
 *            call on the condition variable, waiting threads may be woken late. No
 *            call is delayed.
 * Since      0.1
 */
WEFT_API int weft_cond_signal(struct weft_cond *cond);
WEFT_API int weft_cond_broadcast(struct weft_cond *cond);

/*
 * weft_cond_destroy - end a condition variable's life
 *
 * A condition variable may be destroyed as soon as every waiting thread has been
 * woken, even if such a thread has not returned yet.
 *
 * Returns 0, or -EBUSY: threads wait.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API int weft_cond_destroy(struct weft_cond *cond);

#ifdef __cplusplus
}
#endif
#endif
