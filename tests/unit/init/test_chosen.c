/* SPDX-License-Identifier: MIT */
/* test_chosen.c - init/chosen: a start says what was chosen, if it is asked to */
#include "threads.h"

#include <string.h>

#include "told.h"

static void start(const struct weft_options *options)
{
	told_begin();
	CU_ASSERT_EQUAL(weft_start(options), 0);
	CU_ASSERT_EQUAL(weft_stop(), 0);
	told_end();
}

static int tells(const char *text)
{
	return strstr(told, text) != NULL;
}

static void nothing_is_told_by_default(void)
{
	unsetenv("WEFT_LOG");
	start(NULL);
	CU_ASSERT_STRING_EQUAL(told, "");
	setenv("WEFT_LOG", "warning", 1);
	start(NULL);
	CU_ASSERT_STRING_EQUAL(told, "");
}

static void what_is_chosen_is_told_with_its_reason(void)
{
	struct weft_options options = { .vcpus = 3, .slice_ns = 2000000 };

	setenv("WEFT_LOG", "info", 1);
	setenv("WEFT_VCPUS", "5", 1);
	unsetenv("WEFT_SCHED");
	unsetenv("WEFT_SLICE");
	unsetenv("WEFT_SPARE_MAX");
	start(NULL);
	CU_ASSERT_TRUE(tells("weft: VCPUs: 5 (WEFT_VCPUS); CPUs allowed: "));
	CU_ASSERT_TRUE(tells("weft: slices: 10000 us\n"));
	CU_ASSERT_TRUE(tells("weft: ready threads: in a queue for each VCPU"));
	CU_ASSERT_TRUE(tells("weft: kernel threads: 5, and up to 256 "));
	CU_ASSERT_EQUAL(tells("weft: thread-local storage: each thread's own"),
			own_tls());
	start(&options);
	CU_ASSERT_TRUE(tells("weft: VCPUs: 3 (the program asks for them)"));
	CU_ASSERT_TRUE(tells("weft: slices: 2000 us\n"));
	unsetenv("WEFT_VCPUS");
	setenv("WEFT_SCHED", "shared", 1);
	options = (struct weft_options){ .slice_ns = -1 };
	start(&options);
	CU_ASSERT_TRUE(tells(" (one for each CPU allowed); CPUs allowed: "));
	CU_ASSERT_TRUE(tells("weft: slices: none: a thread runs until it waits\n"));
	CU_ASSERT_TRUE(tells("weft: ready threads: in one queue\n"));
	setenv("WEFT_SCHED", "explore", 1);
	options.vcpus = 3;
	start(&options);
	CU_ASSERT_TRUE(tells("weft: VCPUs: 1 (WEFT_SCHED=explore)"));
	CU_ASSERT_TRUE(tells("weft: ready threads: in one queue, in an order by WEFT_SEED\n"));
	unsetenv("WEFT_SCHED");
}

static const struct test_case cases[] = {
	TEST(nothing_is_told_by_default),
	TEST(what_is_chosen_is_told_with_its_reason),
};

TEST_MAIN("init/chosen", cases)
