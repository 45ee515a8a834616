/* SPDX-License-Identifier: MIT */
/* test_exit.c - os/exit: at once, with that status, and nothing else is run */
#include "os/call/exit.h"

#include <pthread.h>
#include <stdlib.h>

#include "forked.h"
#include "os/libc/thread_end.h"

static int status_wanted;

static void exit_with_it(void)
{
	wefti_os_exit(status_wanted);
}

static void status_is_what_the_parent_sees(void)
{
	const int statuses[] = { 0, 1, 77, 255 };

	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++) {
		int status;

		status_wanted = statuses[i];
		status = in_child(exit_with_it);
		CU_ASSERT_TRUE(WIFEXITED(status));
		CU_ASSERT_EQUAL(WEXITSTATUS(status), statuses[i]);
		CU_ASSERT_STRING_EQUAL(said, "");
	}
}

static void say(void)
{
	static const char text[] = "a function for the end was run\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		abort();
}

static void say_too(void *arg)
{
	(void)arg;
	say();
}

static void exit_with_much_to_do(void)
{
	must(atexit(say) == 0);
	must(wefti_os_at_thread_end(say_too, NULL) == 0);
	must(fputs("in a buffer of stdio", fdopen(STDERR_FILENO, "w")) >= 0);
	wefti_os_exit(3);
}

/* With exit() instead all three are: that is asked as well. */
static void exit_as_programs_do(void)
{
	must(atexit(say) == 0);
	exit(3);
}

static void no_function_for_the_end_is_run(void)
{
	int status = in_child(exit_with_much_to_do);

	CU_ASSERT_TRUE(WIFEXITED(status));
	CU_ASSERT_EQUAL(WEXITSTATUS(status), 3);
	CU_ASSERT_STRING_EQUAL(said, "");

	status = in_child(exit_as_programs_do);
	CU_ASSERT_TRUE(WIFEXITED(status));
	CU_ASSERT_STRING_NOT_EQUAL(said, "");
}

static void *exit_there(void *unused)
{
	(void)unused;
	wefti_os_exit(5);
}

static void end_by_another(void)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, exit_there, NULL) == 0);
	for (;;)
		pause();
}

static void another_kernel_thread_of_a_fork_ends_them_all(void)
{
	int status = in_child(end_by_another);

	CU_ASSERT_TRUE(WIFEXITED(status));
	CU_ASSERT_EQUAL(WEXITSTATUS(status), 5);
}

static const struct test_case cases[] = {
	TEST(status_is_what_the_parent_sees),
	TEST(no_function_for_the_end_is_run),
	TEST(another_kernel_thread_of_a_fork_ends_them_all),
};

TEST_MAIN("os/exit", cases)
