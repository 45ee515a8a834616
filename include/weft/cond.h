/* SPDX-License-Identifier: MIT */
/*
 * weft/cond.h - condition variables
 *
 * Zero-filled is valid, with no thread waiting. Threads that wait at the same
 * time must use the same mutex.
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
 *   mutex     owned by the caller; owned again on every return but -EPERM
 *   deadline  see weft/base.h
 *
 * Returns 0 when woken by a signal or broadcast (never without), else
 *   -ETIMEDOUT  no signal before the deadline; none was consumed
 *   -ECANCELED  the thread is cancelled; no signal was consumed
 *   -EPERM      the caller does not own the mutex
 *   -ENOMEM     as for weft_mutex_lock(); did not wait
 *
 * The condition must be checked again all the same: another thread can have
 * changed it before the caller had the mutex back.
 *
 * Blocks     may park.
 * Orders     the signal happens before the return.
 * Progress   lock-free: the call returns or parks whatever others do.
 * Fairness   threads are woken in the order in which they began to wait.
 * Since      0.1
 */
WEFT_API int weft_cond_wait(struct weft_cond *cond, struct weft_mutex *mutex);
WEFT_API WEFT_MUST_USE int weft_cond_wait_until(struct weft_cond *cond,
	struct weft_mutex *mutex, int64_t deadline);

/*
 * weft_cond_signal, weft_cond_broadcast - wake one thread, or all, that wait
 *
 * The caller need not own the mutex. Threads that a broadcast wakes are passed
 * to the mutex's queue rather than woken at once where it is taken.
 *
 * Returns 0.
 *
 * Blocks     never.
 * Progress   lock-free. One thread at a time wakes those that wait; others leave
 *            their signals to it meanwhile. So while a kernel thread is stopped
 *            in a call on the condition variable, wake-ups of its waiters can be
 *            late. No call is.
 * Since      0.1
 */
WEFT_API int weft_cond_signal(struct weft_cond *cond);
WEFT_API int weft_cond_broadcast(struct weft_cond *cond);

/*
 * weft_cond_destroy - end a condition variable's life
 *
 * Allowed as soon as every waiter has been woken, even if it has not returned.
 *
 * Returns 0, or -EBUSY: threads wait.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_cond_destroy(struct weft_cond *cond);

#ifdef __cplusplus
}
#endif
#endif
