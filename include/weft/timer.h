/* SPDX-License-Identifier: MIT */
/* weft/timer.h - tickers: do something periodically, without drift */
#ifndef WEFT_TIMER_H
#define WEFT_TIMER_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Belongs to one thread at a time; may be copied. */
struct weft_ticker {
	int64_t next;		/* the next tick's time; a deadline */
	int64_t period_ns;
};

/*
 * weft_ticker_init - begin to tick
 *
 *   first      time of the first tick, by weft_clock()
 *   period_ns  time from one tick to the next: WEFT_MS(100), WEFT_SECONDS(5)
 *
 * Returns 0, or -EINVAL: first is negative or period_ns is not positive.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_ticker_init(struct weft_ticker *ticker,
	int64_t first, int64_t period_ns);

/*
 * weft_ticker_wait - wait for the next tick
 *
 * Ticks are at first, first + period_ns and so on, however late the thread waits or
 * runs again. So their times do not drift.
 *
 * Returns the number of ticks since the last call, at least 1; any more than 1 were
 * missed. -ECANCELED: the thread is cancelled; no tick was taken.
 *
 * Blocks     may park.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int64_t weft_ticker_wait(struct weft_ticker *ticker);

/*
 * weft_ticker_take - take the ticks that have come
 *
 * For a thread that waits until ticker->next in another way, for example as the deadline
 * of another call.
 *
 * Returns the number of ticks since the last call; 0 if there were none.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int64_t weft_ticker_take(struct weft_ticker *ticker);

#ifdef __cplusplus
}
#endif
#endif
