/* SPDX-License-Identifier: MIT */
/* weft/barrier.h - wait until a given number of threads has arrived */
#ifndef WEFT_BARRIER_H
#define WEFT_BARRIER_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_barrier {
	uint64_t weft_private[4];
};

#define WEFT_BARRIER_SERIAL	1

/*
 * weft_barrier_init - make a barrier
 *
 *   count  how many threads make a round; 1 to 2^20
 *
 * Returns 0, or -EINVAL: count is out of range.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_barrier_init(struct weft_barrier *barrier,
	unsigned count);

/*
 * weft_barrier_wait, weft_barrier_wait_until - arrive, and wait for the others
 *
 *   deadline  a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * When count threads have arrived, the round is full: all of them return, and the
 * next round begins.
 *
 * Returns WEFT_BARRIER_SERIAL to one thread of each round and 0 to the others, else
 *   -ETIMEDOUT  the deadline came before the others; the caller no longer counts as
 *               arrived
 *   -EAGAIN     the same, with WEFT_NO_WAIT
 *   -EINVAL     the barrier was never initialized
 *   -ENOMEM     see weft_mutex_lock()
 *
 * Blocks     may park. Not cancelled.
 * Orders     whatever a thread of the round did before it arrived happens before
 *            every return of that round.
 * Progress   lock-free: the call returns or parks, whatever other threads do. The
 *            call that fills a round wakes the others. A call that times out decides
 *            whether its thread counts as arrived. If a kernel thread is stopped in
 *            one of these two calls, parked threads are woken late, also those whose
 *            deadline has passed.
 * Since      0.1
 */
WEFT_API int weft_barrier_wait(struct weft_barrier *barrier);
WEFT_API WEFT_MUST_USE int weft_barrier_wait_until(
	struct weft_barrier *barrier, int64_t deadline);

/*
 * weft_barrier_destroy - end a barrier's life
 *
 * A barrier may be destroyed as soon as its last round is full, even if threads have
 * not returned from it yet. But threads that wait with a deadline must have returned.
 *
 * Returns 0, or -EBUSY: threads wait.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API int weft_barrier_destroy(struct weft_barrier *barrier);

#ifdef __cplusplus
}
#endif
#endif
