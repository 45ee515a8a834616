/* SPDX-License-Identifier: MIT */
/* test_log.c - base/log: WEFT_LOG says what is told */
#include "told.h"

#include <stdlib.h>

#include "base/log.h"

static void tell_all(void)
{
	static const char *const word[] = { "e", "w", "i", "d" };

	told_begin();
	for (int level = WEFTI_LOG_ERROR; level <= WEFTI_LOG_DEBUG; level++)
		wefti_log((enum wefti_set_log)level, "%s%d", word[level], level);
	told_end();
}

static void each_level_tells_what_those_before_it_tell_too(void)
{
	static const char *const tries[][2] = {
		{ "error", "e0" }, { "warning", "e0w1" }, { "", "e0w1" },
		{ "info", "e0w1i2" }, { "debug", "e0w1i2d3" }, { "loud", "e0w1" },
	};

	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		setenv("WEFT_LOG", tries[i][0], 1);
		wefti_log_begin();
		tell_all();
		CU_ASSERT_STRING_EQUAL(told, tries[i][1]);
	}
}

static void what_a_program_sets_later_is_for_the_next_start(void)
{
	setenv("WEFT_LOG", "debug", 1);
	wefti_log_begin();
	setenv("WEFT_LOG", "error", 1);
	tell_all();
	CU_ASSERT_STRING_EQUAL(told, "e0w1i2d3");
	CU_ASSERT_TRUE(wefti_log_shows(WEFTI_LOG_DEBUG));
	wefti_log_begin();
	CU_ASSERT_FALSE(wefti_log_shows(WEFTI_LOG_WARNING));
}

static const struct test_case cases[] = {
	TEST(each_level_tells_what_those_before_it_tell_too),
	TEST(what_a_program_sets_later_is_for_the_next_start),
};

TEST_MAIN("base/log", cases)
