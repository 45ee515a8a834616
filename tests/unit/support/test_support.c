/* SPDX-License-Identifier: MIT */
/*
 * test_support.c - the tests' own runner: what fails must be seen to fail
 *
 * The cases that fail or hang run in a child, which is this program again with
 * WEFT_TEST_SUPPORT_CHILD set.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static void a_case_that_passes(void)
{
	CU_ASSERT_EQUAL(test_scaled(1000), 250);
}

static void a_case_that_fails(void)
{
	CU_ASSERT_EQUAL(test_scaled(1000), 0);
}

static void a_case_that_hangs(void)
{
	for (;;)
		pause();
}

/* Runs this program as `which`; its output goes to out. Returns the status. */
static int run_child(const char *which, char *out, size_t size)
{
	size_t used = 0;
	ssize_t n;
	int fd[2], status;

	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	pid_t pid = fork();

	CU_ASSERT_FATAL(pid >= 0);
	if (pid == 0) {
		dup2(fd[1], STDOUT_FILENO);
		dup2(fd[1], STDERR_FILENO);
		close(fd[0]);
		setenv("WEFT_TEST_SUPPORT_CHILD", which, 1);
		setenv("WEFT_TEST_SEED", "42", 1);
		setenv("WEFT_TEST_SCALE", "0.25", 1);
		setenv("WEFT_TEST_WATCHDOG", "1", 1);
		execl("/proc/self/exe", "test_support", (char *)NULL);
		_exit(99);
	}
	close(fd[1]);
	while ((n = read(fd[0], out + used, size - 1 - used)) > 0)
		used += (size_t)n;
	out[used] = 0;
	close(fd[0]);
	CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
	return status;
}

static char output[1 << 20];

static void runner_returns_success_when_every_case_passes(void)
{
	int status = run_child("passes", output, sizeof(output));

	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
	CU_ASSERT_PTR_NOT_NULL(strstr(output, "WEFT_TEST_SEED=42"));
	CU_ASSERT_PTR_NOT_NULL(strstr(output, "a_case_that_passes"));
}

static void runner_returns_failure_and_names_the_assertion(void)
{
	int status = run_child("fails", output, sizeof(output));

	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE);
	CU_ASSERT_PTR_NOT_NULL(strstr(output, "a_case_that_fails: failed: "));
	CU_ASSERT_PTR_NOT_NULL(strstr(output, "test_support.c:"));
}

static void runner_fails_when_no_case_is_left_to_run(void)
{
	int status;

	setenv("WEFT_TEST_ONLY", "no case has this name", 1);
	status = run_child("passes", output, sizeof(output));
	unsetenv("WEFT_TEST_ONLY");
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE);
}

static void watchdog_names_the_case_and_shows_kernel_threads(void)
{
	int status = run_child("hangs", output, sizeof(output));

	CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	CU_ASSERT_PTR_NOT_NULL(strstr(output, "a_case_that_hangs is over"));
	CU_ASSERT_PTR_NOT_NULL(strstr(output, "kernel thread "));
	CU_ASSERT_PTR_NOT_NULL(strstr(output, "  stat: "));
}

static void random_numbers_repeat_with_the_seed_and_differ_by_who(void)
{
	uint64_t a = test_seed(1), b = test_seed(1), c = test_seed(2);
	int equal = 0;

	for (int i = 0; i < 1000; i++) {
		uint64_t x = test_random(&a);

		CU_ASSERT_EQUAL(x, test_random(&b));
		equal += x == test_random(&c);
	}
	CU_ASSERT_EQUAL(equal, 0);
	for (int i = 0; i < 1000; i++)
		CU_ASSERT(test_random_below(&a, 7) < 7);
}

static const struct test_case cases[] = {
	TEST(runner_returns_success_when_every_case_passes),
	TEST(runner_returns_failure_and_names_the_assertion),
	TEST(runner_fails_when_no_case_is_left_to_run),
	TEST(watchdog_names_the_case_and_shows_kernel_threads),
	TEST(random_numbers_repeat_with_the_seed_and_differ_by_who),
};

static const struct test_case passes[] = { TEST(a_case_that_passes) };
static const struct test_case fails[] = { TEST(a_case_that_fails) };
static const struct test_case hangs[] = { TEST(a_case_that_hangs) };

int main(void)
{
	const char *child = getenv("WEFT_TEST_SUPPORT_CHILD");

	if (!child)
		return test_main("support/support", cases,
				 sizeof(cases) / sizeof(cases[0]));
	unsetenv("WEFT_TEST_SUPPORT_CHILD");
	if (strcmp(child, "passes") == 0)
		return test_main("child", passes, 1);
	if (strcmp(child, "fails") == 0)
		return test_main("child", fails, 1);
	return test_main("child", hangs, 1);
}
