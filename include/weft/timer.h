/* SPDX-License-Identifier: MIT */
/* weft/timer.h - tickers: something is done every so often, without drift */
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
 *   first      the first tick, a time of weft_clock()
 *   period_ns  from tick to tick
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
 * Ticks are at first, first + period_ns and so on, however late the thread
 * comes to wait or runs again: their times do not drift.
 *
 * Returns how many ticks there were since the last call, at least 1: what is
 * more than 1 was missed. -ECANCELED: the thread is cancelled; no tick was
 * taken.
 *
 * Blocks     may park.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int64_t weft_ticker_wait(struct weft_ticker *ticker);

/*
 * weft_ticker_take - take the ticks there are
 *
 * For who waits until ticker->next by other means, as the deadline of another
 * call.
 *
 * Returns how many ticks there were since the last call; 0: none.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int64_t weft_ticker_take(struct weft_ticker *ticker);

#ifdef __cplusplus
}
#endif
#endif
