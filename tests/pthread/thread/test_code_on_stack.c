/* SPDX-License-Identifier: MIT */
/*
 * test_code_on_stack.c - code on the stacks of threads
 *
 * The linker is told that the program needs it; configure leaves this out where the
 * compiler has no functions inside of functions.
 */
#include "compare.h"

#include "code_on_stack.h"

static void *call(void *from)
{
	return (void *)(long)place_of_zero((int)(long)from);
}

static void threads_have_code_on_their_stacks(void)
{
	pthread_t t[8];

	for (long i = 0; i < 8; i++)
		t[i] = start(call, (void *)i);
	for (int i = 0; i < 8; i++)
		printf("%ld\n", (long)finish(t[i]));
	printf("%d\n", place_of_zero(3));
}

static void stacks_of_all_sizes_have_it(void)
{
	static const size_t sizes[] = {
		16384, 65536, 100000, 1 << 18, 1 << 20, 1 << 24,
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		pthread_attr_t attr;
		pthread_t t;

		if (sizes[i] < (size_t)sysconf(_SC_THREAD_STACK_MIN))
			continue;
		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, sizes[i]);
		show("pthread_create", pthread_create(&t, &attr, call,
						      (void *)(long)i));
		printf("%zu: %ld\n", sizes[i], (long)finish(t));
		pthread_attr_destroy(&attr);
	}
}

static void stacks_that_are_used_again_have_it(void)
{
	long sum = 0;

	for (long i = scaled(500); i > 0; i--)
		sum += (long)finish(start(call, (void *)(i % 31)));
	printf("%ld\n", sum);
}

/* More than one mapping of stacks, below. */
static pthread_barrier_t all;

static void *call_when_all_are_there(void *from)
{
	pthread_barrier_wait(&all);
	return call(from);
}

static void many_have_it_at_once(void)
{
	pthread_t t[300];
	long sum = 0;

	pthread_barrier_init(&all, NULL, 300);
	for (long i = 0; i < 300; i++)
		t[i] = start(call_when_all_are_there, (void *)(i % 31));
	for (int i = 0; i < 300; i++)
		sum += (long)finish(t[i]);
	printf("%ld\n", sum);
}

static const struct compare_case cases[] = {
	COMPARE(threads_have_code_on_their_stacks),
	COMPARE(stacks_of_all_sizes_have_it),
	COMPARE(stacks_that_are_used_again_have_it),
	COMPARE(many_have_it_at_once),
};

COMPARE_MAIN(cases)
