/* SPDX-License-Identifier: MIT */
/* support.c - runs a table of cases with CUnit; seeds and scale */
#include "support.h"

#include <CUnit/Basic.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "left_out.h"
#include "watchdog.h"

static uint64_t seed = 1;
static double scale = 1;

static void read_number(const char *name, double *out)
{
	const char *text = getenv(name);
	char *end;

	if (!text)
		return;
	errno = 0;
	double value = strtod(text, &end);

	if (end == text || *end != 0 || errno != 0 || value < 0) {
		fprintf(stderr, "%s=%s: not a number\n", name, text);
		exit(EXIT_FAILURE);
	}
	*out = value;
}

static void read_seed(void)
{
	const char *text = getenv("WEFT_TEST_SEED");
	struct timespec now;

	if (text) {
		seed = strtoull(text, NULL, 0);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	seed = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

size_t test_scaled(size_t count)
{
	size_t scaled = (size_t)((double)count * scale);

	return scaled > 0 ? scaled : 1;
}

uint64_t test_seed(uint64_t who)
{
	/* splitmix64's finalizer: seeds that differ in a bit start far apart. */
	uint64_t z = seed + (who + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return z != 0 ? z : 1;
}

/* xorshift64* by S. Vigna, 2014. */
uint64_t test_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1du;
}

uint64_t test_random_below(uint64_t *state, uint64_t limit)
{
	/* The bias of the remainder is below limit / 2^64: no test sees it. */
	return test_random(state) % limit;
}

/* CUnit calls this before each case; the watchdog has to know which one. */
static void case_begins(const CU_pTest test, const CU_pSuite suite)
{
	printf("  %s\n", test->pName);
	fflush(stdout);
	wefti_test_watchdog_case(suite->pName, test->pName);
}

static void print_failures(void)
{
	CU_pFailureRecord f = CU_get_failure_list();

	for (; f; f = f->pNext)
		printf("%s:%u: %s: failed: %s\n",
		       f->strFileName ? f->strFileName : "?", f->uiLineNumber,
		       f->pTest && f->pTest->pName ? f->pTest->pName : "suite",
		       f->strCondition ? f->strCondition : "?");
}

/*
 * Adds the cases that WEFT_TEST_ONLY and WEFT_TEST_WITHOUT do not leave out;
 * returns how many. *left_out counts those of the latter.
 */
static size_t add_cases(CU_pSuite suite, const struct test_case *cases,
			size_t count, size_t *left_out)
{
	size_t added = 0;

	for (size_t i = 0; i < count; i++) {
		if (!is_wanted(cases[i].name))
			continue;
		if (is_left_out(cases[i].name)) {
			printf("  left out here: %s\n", cases[i].name);
			(*left_out)++;
			continue;
		}
		if (!CU_add_test(suite, cases[i].name, cases[i].run))
			return 0;
		added++;
	}
	return added;
}

static int run_cases(const char *suite_name, const struct test_case *cases,
		     size_t count)
{
	double watchdog_seconds = 60;
	CU_pSuite suite;
	size_t added, left_out = 0;
	unsigned failed;

	read_number("WEFT_TEST_SCALE", &scale);
	read_number("WEFT_TEST_WATCHDOG", &watchdog_seconds);
	read_seed();
	printf("%s: WEFT_TEST_SEED=%llu WEFT_TEST_SCALE=%g\n", suite_name,
	       (unsigned long long)seed, scale);
	fflush(stdout);

	if (CU_initialize_registry() != CUE_SUCCESS ||
	    !(suite = CU_add_suite(suite_name, NULL, NULL))) {
		fprintf(stderr, "%s: CUnit failed\n", suite_name);
		return EXIT_FAILURE;
	}
	added = add_cases(suite, cases, count, &left_out);
	if (added == 0) {
		if (left_out > 0)
			return EXIT_SUCCESS;
		fprintf(stderr, "%s: no cases to run\n", suite_name);
		return EXIT_FAILURE;
	}
	wefti_test_watchdog_start(watchdog_seconds);
	CU_set_test_start_handler(case_begins);
	CU_run_all_tests();
	wefti_test_watchdog_await();
	failed = CU_get_number_of_failure_records();
	print_failures();

	/* A case that CUnit did not run has not passed. */
	if (CU_get_number_of_tests_run() != added)
		failed++;
	printf("%s: %zu cases, %u failures\n", suite_name, added, failed);
	CU_cleanup_registry();
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void be_alone(const char *suite_name, const char *name)
{
	char only[128];

	snprintf(only, sizeof(only), "=%s", name);
	setenv("WEFT_TEST_ONLY", only, 1);
	unsetenv("WEFT_TEST_ALONE");
	execl("/proc/self/exe", suite_name, (char *)NULL);
	_exit(EXIT_FAILURE);
}

/* A program of its own: the caller may be a thread of weft. */
static int run_alone(const char *suite_name, const struct test_case *one)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		be_alone(suite_name, one->name);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return EXIT_FAILURE;
	if (WIFSIGNALED(status))
		printf("%s: signal %d\n", one->name, WTERMSIG(status));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? EXIT_SUCCESS :
							       EXIT_FAILURE;
}

static int run_each_alone(const char *suite_name, const struct test_case *cases,
			  size_t count)
{
	unsigned ran = 0, failed = 0;

	for (size_t i = 0; i < count; i++) {
		if (!is_wanted(cases[i].name))
			continue;
		ran++;
		if (run_alone(suite_name, &cases[i]) == EXIT_SUCCESS)
			continue;
		failed++;
		printf("fails alone: %s\n", cases[i].name);
	}
	printf("%s: %u cases alone, %u failures\n", suite_name, ran, failed);
	return failed || !ran ? EXIT_FAILURE : EXIT_SUCCESS;
}

int test_main(const char *suite_name, const struct test_case *cases, size_t count)
{
	if (getenv("WEFT_TEST_ALONE"))
		return run_each_alone(suite_name, cases, count);
	return run_cases(suite_name, cases, count);
}
