/* SPDX-License-Identifier: MIT */
/* test_fatal.c - os/fatal: what is said, and that it is the end */
#include "os/call/fatal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "forked.h"
#include "os/call/vm.h"

static const char *what;
static long result;

static void end(void)
{
	wefti_os_fatal(what, result);
}

static void expect_abort(int status)
{
	CU_ASSERT_TRUE(WIFSIGNALED(status));
	CU_ASSERT_EQUAL(WTERMSIG(status), SIGABRT);
}

/* The first line is ours; an emulator may have a word after it. */
static int first_line_is(const char *expected)
{
	size_t length = strlen(expected);

	if (strncmp(said, expected, length) == 0 && said[length] == '\n')
		return 1;
	printf("    expected: %s\n    said: %s\n", expected, said);
	return 0;
}

static void each_number_is_written_in_full(void)
{
	const long numbers[] = {
		0, 7, 10, -2, -9, -4095, INT_MIN, LONG_MAX, LONG_MIN
	};
	char expected[100];

	what = "some call";
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		result = numbers[i];
		expect_abort(in_child(end));
		snprintf(expected, sizeof(expected),
			 "weft: some call: unexpected result %ld", result);
		CU_ASSERT_TRUE(first_line_is(expected));
	}
	what = "";
	result = -22;
	expect_abort(in_child(end));
	CU_ASSERT_TRUE(first_line_is("weft: : unexpected result -22"));
}

/* A filter's answer is no fault: no abort, no core, and what to do is said. */
static void a_call_that_is_refused_ends_the_process_in_order(void)
{
	static const long refusals[] = { -ENOSYS, -EPERM, -EACCES };

	what = "membarrier";
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		int status;

		result = refusals[i];
		status = in_child(end);
		CU_ASSERT_TRUE(WIFEXITED(status));
		CU_ASSERT_EQUAL(WEXITSTATUS(status), WEFTI_EXIT_REFUSED);
		CU_ASSERT_TRUE(first_line_is(
			"weft: the kernel or a filter refuses membarrier, "
			"which weft needs: see weft-calls(7)"));
	}
}

/* With a name of any length it is one line, and that has the result. */
static void a_long_name_is_cut_and_its_result_is_not(void)
{
	static char name[3000];
	static const char last[] = ": unexpected result -9223372036854775808";

	for (size_t length = 190; length < 270; length++) {
		size_t line;

		memset(name, 'x', length);
		name[length] = 0;
		what = name;
		result = LONG_MIN;
		expect_abort(in_child(end));
		line = strcspn(said, "\n");
		CU_ASSERT_EQUAL(said[line], '\n');
		CU_ASSERT_TRUE(line < 256 && line > sizeof(last));
		CU_ASSERT_EQUAL(strncmp(said, "weft: xxx", 9), 0);
		CU_ASSERT_EQUAL(strncmp(said + line - (sizeof(last) - 1), last,
					sizeof(last) - 1), 0);
	}
	memset(name, 'x', sizeof(name) - 1);
	expect_abort(in_child(end));
	CU_ASSERT_TRUE(strcspn(said, "\n") < 256);
}

static void end_with_abort_blocked(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGABRT, SIG_IGN);
	end();
}

static void end_unheard(void)
{
	close(STDERR_FILENO);
	end();
}

static void in_handler(int number)
{
	(void)number;
	end();
}

/*
 * The handler may have come in the middle of malloc or stdio. It is a handler
 * of a fault, since ThreadSanitizer holds others back in children.
 */
static void end_in_a_handler(void)
{
	volatile char *p = wefti_os_vm_reserve_inaccessible(
		wefti_os_page_size());

	signal(SIGSEGV, in_handler);
	signal(SIGBUS, in_handler);
	flockfile(stderr);
	flockfile(stdout);
	*p = 1;
}

static void it_is_the_end_wherever_it_is_called(void)
{
	what = "call";
	result = -14;
	expect_abort(in_child(end_with_abort_blocked));
	CU_ASSERT_TRUE(first_line_is("weft: call: unexpected result -14"));
	expect_abort(in_child(end_in_a_handler));
	CU_ASSERT_TRUE(first_line_is("weft: call: unexpected result -14"));
	expect_abort(in_child(end_unheard));
	CU_ASSERT_STRING_EQUAL(said, "");
}

static const struct test_case cases[] = {
	TEST(each_number_is_written_in_full),
	TEST(a_call_that_is_refused_ends_the_process_in_order),
	TEST(a_long_name_is_cut_and_its_result_is_not),
	TEST(it_is_the_end_wherever_it_is_called),
};

TEST_MAIN("os/fatal", cases)
