/* SPDX-License-Identifier: MIT */
/*
 * test_loader.c - the dynamic loader's locks, which to make a thread takes too
 *
 * The thread that has such a lock must not be in line for a VCPU while others,
 * and the runtime, wait for the lock in the kernel.
 */
#include "compare.h"

#include <dlfcn.h>
#include <link.h>

#define LIBRARY	"libBrokenLocale.so.1"	/* is libc's, and nobody's else */

static void *load(void *times)
{
	for (long i = *(long *)times; i > 0; i--) {
		void *library = dlopen(LIBRARY, RTLD_NOW);

		if (!library || dlclose(library) != 0)
			return (void *)1;
	}
	return NULL;
}

static void *do_nothing(void *arg)
{
	return arg;
}

static void libraries_come_and_go_while_threads_do(void)
{
	long times = scaled(4000);
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		t[i] = start(load, &times);
	for (long i = scaled(300); i > 0; i--) {
		finish(start(do_nothing, NULL));
		sched_yield();
	}
	for (int i = 0; i < 3; i++)
		printf("%ld\n", (long)finish(t[i]));
}

/* For longer than a slice. */
static int compute(struct dl_phdr_info *info, size_t size, void *count)
{
	(void)info;
	(void)size;
	for (long i = 0; i < 10000000; i++)
		++*(volatile long *)count;
	return 1;
}

static void *walk(void *times)
{
	long count = 0;

	for (long i = *(long *)times; i > 0; i--)
		dl_iterate_phdr(compute, &count);
	return (void *)count;
}

static void a_thread_that_computes_with_a_lock_blocks_nobody(void)
{
	long loads = scaled(300), times = scaled(10);
	pthread_t walker = start(walk, &times), loader = start(load, &loads);

	for (long i = scaled(20); i > 0; i--)
		finish(start(do_nothing, NULL));
	printf("%d %ld\n", (long)finish(walker) == times * 10000000,
	       (long)finish(loader));
}

static const struct compare_case cases[] = {
	COMPARE(libraries_come_and_go_while_threads_do),
	COMPARE(a_thread_that_computes_with_a_lock_blocks_nobody),
};

COMPARE_MAIN(cases)
