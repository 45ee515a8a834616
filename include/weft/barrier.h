/* SPDX-License-Identifier: MIT */
/* weft/barrier.h - wait until a number of threads has come */
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
 *   count  how many threads open it; 1 to 2^20
 *
 * Returns 0, or -EINVAL: count is out of range.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_barrier_init(struct weft_barrier *barrier,
	unsigned count);

/*
 * weft_barrier_wait, weft_barrier_wait_until - come, and wait for the others
 *
 * Returns WEFT_BARRIER_SERIAL to one thread of each round and 0 to the others,
 * else
 *   -ETIMEDOUT  the others had not come; the caller does not count any more
 *   -EAGAIN     the same, with WEFT_NO_WAIT
 *   -EINVAL     the barrier was never made
 *   -ENOMEM     as for weft_mutex_lock()
 *
 * Blocks     may park. Not cancelled.
 * Orders     what any thread of the round did before it came happens before
 *            every return of that round.
 * Progress   lock-free: the call returns or parks whatever others do. While a
 *            kernel thread is stopped in the call that fills a round, or in one
 *            whose time is over, those that wait are woken late. So are those
 *            whose time is over: whether they came is decided there.
 * Since      0.1
 */
WEFT_API int weft_barrier_wait(struct weft_barrier *barrier);
WEFT_API WEFT_MUST_USE int weft_barrier_wait_until(
	struct weft_barrier *barrier, int64_t deadline);

/*
 * weft_barrier_destroy - end a barrier's life
 *
 * Allowed as soon as the last round is full, even if threads have not returned,
 * but for those that wait with a deadline.
 *
 * Returns 0, or -EBUSY: threads wait.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_barrier_destroy(struct weft_barrier *barrier);

#ifdef __cplusplus
}
#endif
#endif
