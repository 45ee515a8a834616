/* SPDX-License-Identifier: MIT */
/* life/ticker.c - something is done at regular times, without drift */
#include "weft/timer.h"

#include <errno.h>

#include "os/call/clock.h"
#include "weft/thread.h"

int weft_ticker_init(struct weft_ticker *ticker, int64_t first,
		     int64_t period_ns)
{
	if (first < 0 || period_ns <= 0)
		return -EINVAL;
	*ticker = (struct weft_ticker){ first, period_ns };
	return 0;
}

int64_t weft_ticker_take(struct weft_ticker *ticker)
{
	int64_t now = wefti_os_now_ns(), ticks, left;

	if (now < ticker->next)
		return 0;
	ticks = (now - ticker->next) / ticker->period_ns + 1;
	/* With a period of centuries the next tick never comes. */
	left = INT64_MAX - ticker->next;
	ticker->next = ticks > left / ticker->period_ns ? INT64_MAX :
		       ticker->next + ticks * ticker->period_ns;
	return ticks;
}

int64_t weft_ticker_wait(struct weft_ticker *ticker)
{
	int64_t ticks = 0;

	while (ticks == 0) {
		int error = weft_sleep_until(ticker->next);

		if (error)
			return error;
		ticks = weft_ticker_take(ticker);
	}
	return ticks;
}
