/* SPDX-License-Identifier: MIT */
/* 07_deadlines - a wait that ends, one deadline for several waits, a ticker */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

WEFT_CHAN_OF(answers, int);

static void must(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, weft_strerror(error));
		exit(1);
	}
}

static void *answer(void *arg)
{
	must(answers_send(*(struct answers *)arg, 42), "send");
	return NULL;
}

int main(void)
{
	int64_t from, deadline, ticks = 0;
	struct weft_ticker ticker;
	struct answers answers;
	int value, error;
	uint64_t id;

	must(weft_start(NULL), "start");
	must(answers_create(&answers, 0, 0), "channel");

	error = answers_try_recv(answers, &value);
	printf("without waiting: %s\n", weft_strerror(error));

	error = answers_recv_until(answers, &value, weft_deadline(WEFT_MS(20)));
	printf("after 20 ms: %s\n", weft_strerror(error));

	/* Both calls together may take 10 seconds. */
	deadline = weft_deadline(WEFT_SECONDS(10));
	must(weft_spawn(&id, NULL, answer, &answers), "spawn");
	must(answers_recv_until(answers, &value, deadline), "receive");
	must(weft_join_until(id, NULL, deadline), "join");
	printf("the answer is %d\n", value);

	from = weft_clock();
	must(weft_ticker_init(&ticker, weft_deadline(WEFT_MS(10)), WEFT_MS(10)),
	     "ticker");
	while (ticks < 5) {
		int64_t n = weft_ticker_wait(&ticker);

		if (n < 0)
			must((int)n, "ticker");
		ticks += n;	/* more than 1 if this thread was late */
	}
	if (weft_clock() - from >= WEFT_MS(50))
		printf("five ticks later\n");
	answers_destroy(answers);
	must(weft_stop(), "stop");
	return 0;
}
