/* SPDX-License-Identifier: MIT */
/*
 * test_perturb.c - lockfree/perturb: the environment and the order of the
 * callers decide which operations take long, and only the perturbing build
 * calls it
 *
 * Naps are seen by the clock that they ask, which is the test's (--wrap) and
 * leaps, so that no nap takes time.
 */
#include "lockfree/perturb.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "support.h"

#define CALLS	400
#define RUNS	4
#define LEAP_NS	5000000		/* a nap is at most 12 ms: so many looks */
#define LOOKS	4

static _Thread_local int is_watched;
static _Thread_local unsigned looks;
static int64_t leapt;		/* one thread at a time is watched */

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	if (!is_watched)
		return __real_clock_gettime(id, t);
	looks++;
	leapt += LEAP_NS;
	*t = (struct timespec){ leapt / 1000000000, leapt % 1000000000 };
	return 0;
}

/* Which of its calls napped, by a kernel thread. */
struct record {
	unsigned char looks[CALLS];
	unsigned naps, longest;
};

/* Two threads in a process with such an environment. NULL: not set. */
struct run {
	const char *seed, *nap;
	struct record record[2];
};

static struct run *run;		/* shared with children */

static void *call(void *arg)
{
	struct record *r = arg;

	is_watched = 1;
	for (int i = 0; i < CALLS; i++) {
		looks = 0;
		wefti_perturb();
		r->looks[i] = (unsigned char)looks;
		r->naps += looks > 0;
		if (looks > r->longest)
			r->longest = looks;
	}
	is_watched = 0;
	return NULL;
}

/* Operations of atomic.h, in the build of this test. */
static void *use_atomics(void *arg)
{
	struct record *r = arg;
	_Atomic uint32_t word = 0;

	is_watched = 1;
	for (uint32_t i = 0; i < CALLS; i++) {
		looks = 0;
		store_relaxed(&word, i);
		r->naps += looks > 0;
	}
	is_watched = 0;
	return NULL;
}

static void set(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

/* One thread after the other: that is the order of their first calls. */
static _Noreturn void run_one(struct run *r, void *(*fn)(void *))
{
	pthread_t thread;

	set("WEFT_TEST_SEED", r->seed);
	set("WEFT_TEST_NAP", r->nap);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, fn, &r->record[i]) != 0 ||
		    pthread_join(thread, NULL) != 0)
			_exit(1);
	_exit(0);
}

static int ended_well(pid_t pid)
{
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/*
 * All from one child, in which nobody else calls meanwhile: the environment is
 * read once by each thread, and threads are counted for as long as a process
 * lives.
 */
static void run_in_children(int count, const struct run *what,
			    void *(*fn)(void *))
{
	pid_t pid;

	if (!run)
		run = mmap(NULL, RUNS * sizeof(*run), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(run != MAP_FAILED);
	memcpy(run, what, (size_t)count * sizeof(*run));
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < count; i++) {
			pid = fork();
			if (pid == 0)
				run_one(&run[i], fn);
			if (!ended_well(pid))
				_exit(1);
		}
		_exit(0);
	}
	CU_ASSERT_FATAL(ended_well(pid));
}

static int is_same(const struct record *a, const struct record *b)
{
	return memcmp(a->looks, b->looks, CALLS) == 0;
}

static void without_the_variable_nobody_naps(void)
{
	static const struct run what[] = { { .seed = "3" },
					   { .seed = "3", .nap = "0" } };

	run_in_children(2, what, call);
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 2; k++)
			CU_ASSERT_EQUAL(run[i].record[k].naps, 0);
}

/* One in four, by a fixed sequence: the bounds are seven deviations away. */
static void one_call_in_so_many_naps_and_not_for_long(void)
{
	static const struct run what[] = { { .seed = "3", .nap = "4" },
					   { .seed = "3", .nap = "1" } };

	run_in_children(2, what, call);
	for (int k = 0; k < 2; k++) {
		const struct record *r = &run[0].record[k];

		CU_ASSERT_TRUE(r->naps > CALLS / 4 - 60);
		CU_ASSERT_TRUE(r->naps < CALLS / 4 + 60);
		CU_ASSERT_TRUE(r->longest > 2 && r->longest <= LOOKS);
		CU_ASSERT_EQUAL(run[1].record[k].naps, CALLS);
	}
}

static void a_seed_decides_and_no_two_threads_do_the_same(void)
{
	static const struct run what[RUNS] = {
		{ .seed = "1", .nap = "4" }, { .seed = "0x1", .nap = "4" },
		{ .seed = "2", .nap = "4" }, { .nap = "4" },	/* 1 */
	};

	run_in_children(RUNS, what, call);
	for (int k = 0; k < 2; k++) {
		CU_ASSERT_TRUE(is_same(&run[0].record[k], &run[1].record[k]));
		CU_ASSERT_FALSE(is_same(&run[0].record[k], &run[2].record[k]));
		CU_ASSERT_TRUE(is_same(&run[0].record[k], &run[3].record[k]));
	}
	CU_ASSERT_FALSE(is_same(&run[0].record[0], &run[0].record[1]));
}

static void only_the_perturbing_build_delays_its_operations(void)
{
	static const struct run what[] = { { .seed = "1", .nap = "1" } };

	run_in_children(1, what, use_atomics);
#ifdef WEFT_PERTURB
	CU_ASSERT_EQUAL(run[0].record[0].naps, CALLS);
#else
	puts("    not the perturbing build: its operations call nothing");
	CU_ASSERT_EQUAL(run[0].record[0].naps, 0);
#endif
}

static const struct test_case cases[] = {
	TEST(without_the_variable_nobody_naps),
	TEST(one_call_in_so_many_naps_and_not_for_long),
	TEST(a_seed_decides_and_no_two_threads_do_the_same),
	TEST(only_the_perturbing_build_delays_its_operations),
};

TEST_MAIN("lockfree/perturb", cases)
