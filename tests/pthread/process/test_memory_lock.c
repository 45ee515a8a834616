/* SPDX-License-Identifier: MIT */
/* test_memory_lock.c - mlockall() locks of a program with threads what it asked for */
#include "compare.h"

#include <sys/mman.h>

#define THREADS	20
#define GUARD	4096
#define OWN	1024	/* KiB beside the stacks */

static pthread_barrier_t all_run, all_end;

static void *wait_twice(void *arg)
{
	pthread_barrier_wait(&all_run);
	pthread_barrier_wait(&all_end);
	return arg;
}

static long locked_kib(void)
{
	char line[256];
	long kib = -1;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmLck: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static void start_all(pthread_t *t, size_t bytes)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, bytes);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], &attr, wait_twice, NULL) != 0)
			abort();
	pthread_attr_destroy(&attr);
}

/* Each in a process of its own, as libc keeps stacks. */
static void lock_with(size_t bytes, int flags, int is_before)
{
	const long asked = (long)(THREADS * (bytes + GUARD) / 1024);
	pthread_t t[THREADS];
	long before, locked;

	pthread_barrier_init(&all_run, NULL, THREADS + 1);
	pthread_barrier_init(&all_end, NULL, THREADS + 1);
	before = locked_kib();
	if (is_before && mlockall(flags) != 0)
		abort();
	if (is_before)
		before = locked_kib();
	start_all(t, bytes);
	pthread_barrier_wait(&all_run);
	if (!is_before && mlockall(flags) != 0)
		abort();
	locked = locked_kib() - before;
	printf("%d threads with %zu KiB: at least %d, at most %d\n", THREADS,
	       bytes / 1024, locked >= asked * 3 / 4,
	       !is_before || locked <= asked * 5 / 4 + OWN);
	pthread_barrier_wait(&all_end);
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
	munlockall();
	printf("unlocked: %ld\n", locked_kib());
}

static int may_lock(void)
{
	const int may = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;

	munlockall();
	if (!may)
		printf("not permitted\n");
	return may;
}

static void small_stacks(void)
{
	if (may_lock())
		lock_with(65536, MCL_CURRENT | MCL_FUTURE, 1);
}

static void odd_stacks(void)
{
	if (may_lock())
		lock_with(1100000, MCL_CURRENT | MCL_FUTURE, 1);
}

static void large_stacks(void)
{
	if (may_lock())
		lock_with(2 << 20, MCL_CURRENT | MCL_FUTURE, 1);
}

static void threads_that_are_there(void)
{
	if (may_lock())
		lock_with(131072, MCL_CURRENT, 0);
}

static const struct compare_case cases[] = {
	COMPARE(small_stacks),
	COMPARE(odd_stacks),
	COMPARE(large_stacks),
	COMPARE(threads_that_are_there),
};

COMPARE_MAIN(cases)
