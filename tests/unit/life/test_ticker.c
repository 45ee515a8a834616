/* SPDX-License-Identifier: MIT */
/* test_ticker.c - life/ticker: ticks do not drift, and missed ones are counted */
#include "threads.h"

#define PERIOD	1000000

static void ticks_do_not_drift(void)
{
	struct weft_ticker t;
	int64_t first, ticks = 0;

	runtime_begin();
	first = weft_clock();
	CU_ASSERT_EQUAL_FATAL(weft_ticker_init(&t, first, PERIOD), 0);
	while (ticks < 30) {
		int64_t n = weft_ticker_wait(&t);

		CU_ASSERT_FATAL(n >= 1);
		ticks += n;
		/* The last tick has passed, the next one's time is exact. */
		CU_ASSERT_TRUE(weft_clock() >= first + (ticks - 1) * PERIOD);
		CU_ASSERT_EQUAL(t.next, first + ticks * PERIOD);
	}
	runtime_end();
}

static void missed_ticks_are_counted(void)
{
	struct weft_ticker t;
	int64_t first = weft_clock() - 10 * PERIOD - PERIOD / 2, n;

	runtime_begin();
	CU_ASSERT_EQUAL_FATAL(weft_ticker_init(&t, first, PERIOD), 0);
	n = weft_ticker_wait(&t);
	CU_ASSERT_TRUE(n >= 11);
	CU_ASSERT_EQUAL(t.next, first + n * PERIOD);
	CU_ASSERT_EQUAL(weft_ticker_init(&t, weft_clock() +
					 INT64_C(3600000000000), PERIOD), 0);
	CU_ASSERT_EQUAL(weft_ticker_take(&t), 0);
	runtime_end();
}

static void a_ticker_can_end_with_time(void)
{
	struct weft_ticker t;

	CU_ASSERT_EQUAL(weft_ticker_init(&t, -1, PERIOD), -EINVAL);
	CU_ASSERT_EQUAL(weft_ticker_init(&t, 0, 0), -EINVAL);
	CU_ASSERT_EQUAL(weft_ticker_init(&t, 1, INT64_MAX), 0);
	CU_ASSERT_EQUAL(weft_ticker_take(&t), 1);
	CU_ASSERT_EQUAL(t.next, INT64_MAX);
	CU_ASSERT_EQUAL(weft_ticker_take(&t), 0);
}

static void *tick_for_ever(void *arg)
{
	struct weft_ticker *t = arg;
	int64_t n;

	do {
		n = weft_ticker_wait(t);
	} while (n > 0);
	return (void *)(intptr_t)n;
}

static void a_cancelled_thread_takes_no_tick(void)
{
	struct weft_ticker t;
	uint64_t id;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_ticker_init(&t, weft_clock(), PERIOD), 0);
	id = spawn(tick_for_ever, &t);
	rest();
	CU_ASSERT_EQUAL(weft_cancel(id), 0);
	CU_ASSERT_EQUAL((intptr_t)join(id), -ECANCELED);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(ticks_do_not_drift),
	TEST(missed_ticks_are_counted),
	TEST(a_ticker_can_end_with_time),
	TEST(a_cancelled_thread_takes_no_tick),
};

TEST_MAIN("life/ticker", cases)
