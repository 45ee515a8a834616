/* SPDX-License-Identifier: MIT */
/* timer.c - a thread that acts every 5 ms, without drift */
#include <stdio.h>
#include <weft.h>

int main(void)
{
	struct weft_ticker ticker;
	int64_t first, ticks = 0;

	if (weft_start(NULL) != 0)
		return 1;
	first = weft_deadline(WEFT_MS(5));
	if (weft_ticker_init(&ticker, first, WEFT_MS(5)) != 0)
		return 1;
	while (ticks < 4) {
		int64_t now = weft_ticker_wait(&ticker);

		if (now < 0)
			return 1;
		ticks += now;	/* more than 1 if the thread was late */
	}
	printf("the next tick is %lld ms after the first\n",
	       (long long)(ticker.next - first) / 1000000);

	/* Without a wait: how many ticks have come since? */
	ticks += weft_ticker_take(&ticker);
	return ticker.next - first != ticks * WEFT_MS(5) || weft_stop() != 0;
}
