/* SPDX-License-Identifier: MIT */
/* test_clock.c - os/clock: time goes forward, and cycles become nanoseconds */
#include <time.h>

#include "cpu.h"
#include "os/call/clock.h"
#include "support.h"

static void now_is_the_monotonic_clock(void)
{
	struct timespec before, after;
	int64_t now;

	clock_gettime(CLOCK_MONOTONIC, &before);
	now = wefti_os_now_ns();
	clock_gettime(CLOCK_MONOTONIC, &after);
	CU_ASSERT(now >= before.tv_sec * 1000000000ll + before.tv_nsec);
	CU_ASSERT(now <= after.tv_sec * 1000000000ll + after.tv_nsec);
}

static void now_never_goes_back(void)
{
	int64_t last = wefti_os_now_ns();
	int backwards = 0;

	for (size_t i = test_scaled(100000); i > 0; i--) {
		int64_t now = wefti_os_now_ns();

		backwards += now < last;
		last = now;
	}
	CU_ASSERT_EQUAL(backwards, 0);
}

/*
 * Each reading is bracketed by two of the other clock, so a delay between
 * them widens the bounds and fails nothing. 0.1 % for the calibration.
 */
static void cycles_are_worth_what_the_clock_says(void)
{
	uint64_t c0, c1, c2, c3, least, most;
	int64_t t0, t1;

	wefti_os_clock_init();
	c0 = wefti_arch_cycles();
	t0 = wefti_os_now_ns();
	c1 = wefti_arch_cycles();
	do
		t1 = wefti_os_now_ns();
	while (t1 - t0 < 20000000);
	c2 = wefti_arch_cycles();
	t1 = wefti_os_now_ns();
	c3 = wefti_arch_cycles();
	least = wefti_os_cycles_to_ns(c2 - c1);
	most = wefti_os_cycles_to_ns(c3 - c0);
	CU_ASSERT(least - least / 1000 <= (uint64_t)(t1 - t0));
	CU_ASSERT(most + most / 1000 >= (uint64_t)(t1 - t0));
}

static void long_times_do_not_overflow(void)
{
	uint64_t second, year;

	/* How many cycles a second has, by halving. */
	uint64_t low = 1, high = 1ull << 40;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (wefti_os_cycles_to_ns(middle) < 1000000000)
			low = middle + 1;
		else
			high = middle;
	}
	second = wefti_os_cycles_to_ns(low);
	year = wefti_os_cycles_to_ns(low * 86400 * 365);
	CU_ASSERT(second >= 1000000000 && second < 1001000000);
	CU_ASSERT(year / 86400 / 365 >= 999000000);
	CU_ASSERT(year / 86400 / 365 <= 1001000000);
	CU_ASSERT_EQUAL(wefti_os_cycles_to_ns(0), 0);
}

static const struct test_case cases[] = {
	TEST(now_is_the_monotonic_clock),
	TEST(now_never_goes_back),
	TEST(cycles_are_worth_what_the_clock_says),
	TEST(long_times_do_not_overflow),
};

TEST_MAIN("os/clock", cases)
