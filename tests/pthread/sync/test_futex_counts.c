/* SPDX-License-Identifier: MIT */
/*
 * test_futex_counts.c - pthread/futex: what a call of a futex says it has done, as the
 * kernel's
 */
#include "compare.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "futex_call.h"

#define ALL	0x7fffffff
#define MOVES	500

int futex_flag = FUTEX_PRIVATE_FLAG;

static _Atomic unsigned word, other;

static void *wait_here(void *arg)
{
	long r;

	do {
		r = futex(&word, FUTEX_WAIT, 5, NULL, NULL, 0);
	} while (r != 0 && errno == EINTR);
	return r == 0 ? arg : NULL;
}

static pthread_t start_waiter(void)
{
	return start(wait_here, (void *)1L);
}

static void tell(const char *what, long r)
{
	if (r < 0)
		printf("%s: %d\n", what, errno);
	else
		printf("%s: %ld\n", what, r);
}

static void *try_odd_places(void *arg)
{
	_Atomic unsigned *odd = (void *)((char *)&other + 1);

	word = 1;
	tell("move", futex(&word, FUTEX_REQUEUE, 1, NULL, odd, 0));
	tell("compare", futex(&word, FUTEX_CMP_REQUEUE, 1, NULL, odd, 1));
	tell("other value", futex(&word, FUTEX_CMP_REQUEUE, 1, NULL, &other, 2));
	tell("change", futex(&word, FUTEX_WAKE_OP, 1, NULL, odd, 0));
	return arg;
}

static void the_second_word_is_looked_at(void)
{
	try_odd_places(NULL);
	finish(start(try_odd_places, NULL));
}

/* The kernel looks how many it may wake when it has woken one. */
static void no_fewer_than_one_is_woken(void)
{
	static const unsigned counts[] = { 0, -1u, 1u << 31 };

	word = 5;
	for (int i = 0; i < 3; i++) {
		pthread_t t[2] = { start_waiter(), start_waiter() };

		for (int n = 0; n < 2; n++) {
			long r;

			while ((r = futex(&word, FUTEX_WAKE, counts[i], NULL,
					  NULL, 0)) == 0)
				sched_yield();
			printf("of two: %ld\n", r);
		}
		printf("%ld\n", (long)finish(t[0]) + (long)finish(t[1]));
	}
}

/* Also one that would have it wait where it waits is counted. */
static void a_waiter_that_stays_where_it_was_is_counted(void)
{
	pthread_t t;
	long r;

	word = 5;
	t = start_waiter();
	while ((r = futex(&word, FUTEX_REQUEUE, 0, (void *)9L, &word, 0)) < 1)
		sched_yield();
	printf("stays: %ld\n", r);
	printf("woken: %ld\n", futex(&word, FUTEX_WAKE, ALL, NULL, NULL, 0));
	finish(t);
}

static atomic_int flips;

static void *flip(void *arg)
{
	while (flips)
		word ^= 5 ^ 6;
	return arg;
}

/* Returns how often it was told that the word was another; nothing: neither. */
static long move_it(int *nothing)
{
	long n, refused = 0;

	while (futex(&other, FUTEX_REQUEUE, 0, (void *)1L, &word, 0) < 1)
		sched_yield();
	do {
		n = futex(&word, FUTEX_CMP_REQUEUE, 0, (void *)1L, &other, 5);
		*nothing += n == 0;
		refused += n < 0 && errno == EAGAIN;
	} while (n < 1);
	return refused;
}

/*
 * While one waits there and another changes the word, a call that moves it has moved
 * it, or says that the word was another.
 */
static void a_waiter_that_is_not_moved_is_reported(void)
{
	pthread_t waits, flipping;
	long refused = 0;
	int nothing = 0;

	word = 5;
	waits = start_waiter();
	while (futex(&word, FUTEX_CMP_REQUEUE, 0, (void *)1L, &other, 5) < 1)
		sched_yield();
	flips = 1;
	flipping = start(flip, NULL);
	for (int i = 0; i < MOVES || refused < MOVES; i++)
		refused += move_it(&nothing);
	printf("neither: %d\n", nothing);
	flips = 0;
	finish(flipping);
	while (futex(&other, FUTEX_WAKE, ALL, NULL, NULL, 0) < 1)
		sched_yield();
	printf("%ld\n", (long)finish(waits));
}

static const struct compare_case cases[] = {
	COMPARE(the_second_word_is_looked_at),
	COMPARE(no_fewer_than_one_is_woken),
	COMPARE(a_waiter_that_stays_where_it_was_is_counted),
	COMPARE(a_waiter_that_is_not_moved_is_reported),
};

COMPARE_MAIN(cases)
