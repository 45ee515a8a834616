/* SPDX-License-Identifier: MIT */
/* ticks.h - the CPU time that a program uses in which all threads wait */
#ifndef WEFT_TESTS_TICKS_H
#define WEFT_TESTS_TICKS_H

#include <sys/resource.h>

#include "observe/dump.h"
#include "sched/sanitizer.h"
#include "threads.h"

/* User and system time of this process in clock ticks. */
static inline long ticks_until_now(void)
{
	struct rusage u;

	must(getrusage(RUSAGE_SELF, &u) == 0);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 100 +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 10000;
}

/*
 * The ticks of so many seconds, when the monitor idles too. Under ThreadSanitizer and an emulator it is the least
 * of three times. ThreadSanitizer has a kernel thread of its own that wakes ten
 * times a second, and is charged for what a host takes from the CPU meanwhile.
 * An emulator translates what it meets. A thread that wakes again and again
 * shows in each of the three times.
 */
static inline long ticks_of_idling(size_t seconds)
{
	int is_alone = !wefti_is_sanitized && !getenv("WEFT_TEST_QEMU");
	long least = -1;

	CU_ASSERT_EQUAL(weft_sleep(500000000), 0);
	for (int i = 0; i < 3; i++) {
		long before = ticks_until_now(), ticks;

		CU_ASSERT_EQUAL(weft_sleep((int64_t)seconds * 1000000000), 0);
		ticks = ticks_until_now() - before;
		printf("    %ld ticks in %zu s\n", ticks, seconds);
		if (least < 0 || ticks < least)
			least = ticks;
		if (ticks > 1)
			test_say_kernel_threads();	/* who has run? */
		if (is_alone || least <= 1)
			break;
	}
	return least;
}

#endif
