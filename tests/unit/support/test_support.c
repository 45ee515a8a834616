/* SPDX-License-Identifier: MIT */
/*
 * test_support.c - the tests' own runner: what fails must be seen to fail
 *
 * Programs that pass, fail and hang run in children, which are made before this
 * program's own cases; those look at how the children ended.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "watchdog.h"

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

static void a_case_that_goes_on_too_late(void)
{
	while (!wefti_test_watchdog_is_over())
		sched_yield();
}

static const struct test_case passes[] = { TEST(a_case_that_passes) };
static const struct test_case fails[] = { TEST(a_case_that_fails) };
static const struct test_case hangs[] = { TEST(a_case_that_hangs) };

struct child {
	int status;
	char output[1 << 20];
};

static const struct test_case late[] = { TEST(a_case_that_goes_on_too_late) };

static struct child passing, failing, hanging, going_on, empty, exact, inexact;

static void must(int done)
{
	if (!done) {
		perror("test_support");
		exit(EXIT_FAILURE);
	}
}

/* Runs one case as a program of its own; keeps what it says. */
static void run_child(struct child *c, const struct test_case *test,
		      const char *only)
{
	size_t used = 0;
	ssize_t n;
	int fd[2];

	fflush(stdout);
	must(pipe(fd) == 0);
	pid_t pid = fork();

	must(pid >= 0);
	if (pid == 0) {
		dup2(fd[1], STDOUT_FILENO);
		dup2(fd[1], STDERR_FILENO);
		close(fd[0]);
		setenv("WEFT_TEST_SEED", "42", 1);
		setenv("WEFT_TEST_SCALE", "0.25", 1);
		setenv("WEFT_TEST_WATCHDOG", "1", 1);
		unsetenv("WEFT_TEST_ONLY");
		unsetenv("WEFT_TEST_ALONE");
		if (only)
			setenv("WEFT_TEST_ONLY", only, 1);
		exit(test_main("child", test, 1));
	}
	close(fd[1]);
	while ((n = read(fd[0], c->output + used,
			 sizeof(c->output) - 1 - used)) > 0)
		used += (size_t)n;
	close(fd[0]);
	must(waitpid(pid, &c->status, 0) == pid);
}

static int exited_with(const struct child *c, int status)
{
	return WIFEXITED(c->status) && WEXITSTATUS(c->status) == status;
}

static void runner_returns_success_when_every_case_passes(void)
{
	CU_ASSERT(exited_with(&passing, EXIT_SUCCESS));
	CU_ASSERT_PTR_NOT_NULL(strstr(passing.output, "WEFT_TEST_SEED=42"));
	CU_ASSERT_PTR_NOT_NULL(strstr(passing.output, "a_case_that_passes"));
}

static void runner_returns_failure_and_names_the_assertion(void)
{
	CU_ASSERT(exited_with(&failing, EXIT_FAILURE));
	CU_ASSERT_PTR_NOT_NULL(strstr(failing.output,
				      "a_case_that_fails: failed: "));
	CU_ASSERT_PTR_NOT_NULL(strstr(failing.output, "test_support.c:"));
}

static void runner_fails_when_no_case_is_left_to_run(void)
{
	CU_ASSERT(exited_with(&empty, EXIT_FAILURE));
}

static void a_whole_name_is_that_case_alone(void)
{
	CU_ASSERT(exited_with(&exact, EXIT_SUCCESS));
	CU_ASSERT(exited_with(&inexact, EXIT_FAILURE));
}

static void watchdog_names_the_case_and_shows_kernel_threads(void)
{
	CU_ASSERT(WIFSIGNALED(hanging.status) &&
		  WTERMSIG(hanging.status) == SIGABRT);
	CU_ASSERT_PTR_NOT_NULL(strstr(hanging.output,
				      "a_case_that_hangs is over"));
	CU_ASSERT_PTR_NOT_NULL(strstr(hanging.output, "kernel thread "));
	CU_ASSERT_PTR_NOT_NULL(strstr(hanging.output, "  stat: "));
}

static void a_case_that_ends_during_the_report_has_not_passed(void)
{
	CU_ASSERT(WIFSIGNALED(going_on.status) &&
		  WTERMSIG(going_on.status) == SIGABRT);
	CU_ASSERT_PTR_NOT_NULL(strstr(going_on.output, "too_late is over"));
	CU_ASSERT_PTR_NULL(strstr(going_on.output, "1 cases"));
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
	TEST(a_whole_name_is_that_case_alone),
	TEST(watchdog_names_the_case_and_shows_kernel_threads),
	TEST(a_case_that_ends_during_the_report_has_not_passed),
	TEST(random_numbers_repeat_with_the_seed_and_differ_by_who),
};

int main(void)
{
	run_child(&passing, passes, "none_of_these that_passes");
	run_child(&failing, fails, NULL);
	run_child(&hanging, hangs, NULL);
	run_child(&going_on, late, NULL);
	run_child(&empty, passes, "none of these");
	run_child(&exact, passes, "=a_case =a_case_that_passes");
	run_child(&inexact, passes, "=a_case");
	return test_main("support/support", cases,
			 sizeof(cases) / sizeof(cases[0]));
}
