/* SPDX-License-Identifier: MIT */
/*
 * test_openmp.c - teams of OpenMP's, by the functions of libgomp that compilers call
 *
 * Loaded by hand, before the first thread is made: the compiler of the tests need not
 * have OpenMP. Where there is no libgomp the cases say so on both sides.
 */
#include "compare.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "tasks.h"
#include "trapped.h"

#define THREADS	8
#define ROUNDS	scaled(300)

static struct {
	void (*parallel)(void (*fn)(void *arg), void *arg, unsigned threads,
			 unsigned flags);
	void (*barrier)(void);
	void (*critical_start)(void);
	void (*critical_end)(void);
	int (*thread_num)(void);
} gomp;

/* A waiting thread does so in the kernel, and soon. */
static void load(const char *policy)
{
	void *library;

	setenv("OMP_WAIT_POLICY", policy, 1);
	library = dlopen("libgomp.so.1", RTLD_NOW);
	if (!library) {
		printf("no libgomp\n");
		exit(0);
	}
	*(void **)&gomp.parallel = dlsym(library, "GOMP_parallel");
	*(void **)&gomp.barrier = dlsym(library, "GOMP_barrier");
	*(void **)&gomp.critical_start = dlsym(library, "GOMP_critical_start");
	*(void **)&gomp.critical_end = dlsym(library, "GOMP_critical_end");
	*(void **)&gomp.thread_num = dlsym(library, "omp_get_thread_num");
}

struct work {
	long sum, behind;
	_Atomic long arrived;
};

static void add_up(void *arg)
{
	struct work *w = arg;

	w->arrived++;
	gomp.barrier();
	if (w->arrived < THREADS)
		w->behind++;
	gomp.critical_start();
	w->sum += gomp.thread_num();
	gomp.critical_end();
}

static void *run_teams(void *arg)
{
	struct work *w = arg;

	for (long i = 0; i < ROUNDS; i++) {
		w->arrived = 0;
		gomp.parallel(add_up, w, THREADS, 0);
	}
	return NULL;
}

static void show_work(const struct work *w)
{
	printf("%d %ld\n", w->sum == ROUNDS * THREADS * (THREADS - 1) / 2,
	       w->behind);
}

static void teams_that_sleep_add_up(void)
{
	struct work w = { 0, 0, 0 };

	load("PASSIVE");
	run_teams(&w);
	show_work(&w);
}

static void teams_that_spin_add_up(void)
{
	struct work w = { 0, 0, 0 };

	load("ACTIVE");
	run_teams(&w);
	show_work(&w);
}

static void each_thread_may_have_a_team(void)
{
	struct work w[3] = { { 0, 0, 0 } };
	pthread_t t[3];

	load("PASSIVE");
	for (int i = 0; i < 3; i++)
		t[i] = start(run_teams, &w[i]);
	for (int i = 0; i < 3; i++) {
		finish(t[i]);
		show_work(&w[i]);
	}
}

static void a_child_has_teams_of_its_own(void)
{
	struct work w = { 0, 0, 0 };
	pid_t child;
	int status;

	load("PASSIVE");
	fflush(stdout);
	finish(start(run_teams, &w));
	child = fork();
	if (child == 0) {
		w = (struct work){ 0, 0, 0 };
		run_teams(&w);
		show_work(&w);
		fflush(stdout);
		_exit(5);
	}
	waitpid(child, &status, 0);
	printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

#define MANY	60
#define FEW	30

static int are_trapped;

/* All wait for the first, which looks around. */
static void wait_for_first(void *unused)
{
	(void)unused;
	if (gomp.thread_num() == 0) {
		usleep(100000);	/* time for the monitor to see the blocked
				 * threads */
		if (are_trapped)
			await_few_tasks(FEW);
	}
	gomp.barrier();
}

static void a_team_that_waits_needs_few_kernel_threads(void)
{
	void *library = dlopen("libgomp.so.1", RTLD_NOW);

	are_trapped = inline_calls_are_trapped();
	if (library) {
		load("PASSIVE");
		gomp.parallel(wait_for_first, NULL, MANY, 0);
	}
	printf("few: 1\n");
}

static const struct compare_case cases[] = {
	COMPARE(teams_that_sleep_add_up),
	COMPARE(teams_that_spin_add_up),
	COMPARE(each_thread_may_have_a_team),
	COMPARE(a_child_has_teams_of_its_own),
	WEFT_ONLY(a_team_that_waits_needs_few_kernel_threads, "few: 1\n"),
};

COMPARE_MAIN(cases)
