/* SPDX-License-Identifier: MIT */
/* test_check.c - base/check: what is said, and how the program ends */
#include "base/check.h"

#include <string.h>

#include "base/format.h"
#include "forked.h"

static void fail_with_a_message(void)
{
	WEFT_CHECK(1 + 1 == 3, "slot %u", 7u);
}

static void fail_without_a_message(void)
{
	WEFT_CHECK(0 > 1);
}

static void fail_with_a_long_message(void)
{
	WEFT_CHECK(0 > 1, "%*d", 4 * WEFTI_PRINT_MOST, 1);
}

static void check_says_where_and_what_and_aborts(void)
{
	char expected[200];
	int status = in_child(fail_with_a_message);

	CU_ASSERT_TRUE(WIFSIGNALED(status));
	CU_ASSERT_EQUAL(WTERMSIG(status), SIGABRT);
	snprintf(expected, sizeof(expected), "weft: %s:", __FILE__);
	CU_ASSERT_EQUAL(strncmp(said, expected, strlen(expected)), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, ": 1 + 1 == 3: slot 7\n"));
}

static void check_needs_no_message_and_cuts_a_long_one(void)
{
	int status = in_child(fail_without_a_message);

	CU_ASSERT_TRUE(WIFSIGNALED(status));
	CU_ASSERT_PTR_NOT_NULL(strstr(said, ": 0 > 1\n"));

	status = in_child(fail_with_a_long_message);
	CU_ASSERT_TRUE(WIFSIGNALED(status));
	/* The first line; an emulator may have a word after it. */
	CU_ASSERT_EQUAL(strcspn(said, "\n"), WEFTI_PRINT_MOST - 2);
	CU_ASSERT_EQUAL(said[WEFTI_PRINT_MOST - 2], '\n');
}

static int evaluated;

static int count_true(void)
{
	evaluated++;
	return 1;
}

static void check_that_holds_does_nothing(void)
{
	evaluated = 0;
	WEFT_CHECK(count_true(), "never %d", 1);
	CU_ASSERT_EQUAL(evaluated, 1);
}

static void fail_an_assertion(void)
{
	WEFT_ASSERT(0 > 1, "only in debug builds");
}

static void assertion_fails_in_debug_builds_alone(void)
{
	int status = in_child(fail_an_assertion);

	evaluated = 0;
	WEFT_ASSERT(count_true());
	WEFT_ASSERT_SLOW(count_true(), "%d", 1);
#ifdef WEFT_DEBUG
	CU_ASSERT_TRUE(WIFSIGNALED(status));
	CU_ASSERT_EQUAL(evaluated, 2);
#else
	CU_ASSERT_TRUE(WIFEXITED(status));
	CU_ASSERT_STRING_EQUAL(said, "");
	CU_ASSERT_EQUAL(evaluated, 0);
#endif
}

static const struct test_case cases[] = {
	TEST(check_says_where_and_what_and_aborts),
	TEST(check_needs_no_message_and_cuts_a_long_one),
	TEST(check_that_holds_does_nothing),
	TEST(assertion_fails_in_debug_builds_alone),
};

TEST_MAIN("base/check", cases)
