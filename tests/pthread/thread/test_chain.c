/* SPDX-License-Identifier: MIT */
/*
 * test_chain.c - chains of threads: each makes the next, waits until that has begun,
 * and ends
 */
#include "compare.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

#define CHAINS	4
#define LENGTH	20000	/* of all chains together */
#define MOST	5000	/* alive at a time; with libc's threads it is some hundred */
#define ENOUGH	20	/* turns of a thread that sleeps meanwhile */

static atomic_int made, alive, most, slept;
static sem_t ended;
static pthread_attr_t detached;

static void note_most(int n)
{
	int was = most;

	while (n > was && !atomic_compare_exchange_weak(&most, &was, n))
		;
}

static int goes_on(int until_slept)
{
	return until_slept ? slept < ENOUGH : made < LENGTH;
}

struct link {
	sem_t begun;
	int until_slept;
};

static void *make_the_next(void *arg)
{
	struct link *previous = arg, own = { .until_slept = previous->until_slept };
	pthread_t t;

	note_most(++alive);
	made++;
	sem_post(&previous->begun);
	if (!goes_on(own.until_slept)) {
		alive--;
		sem_post(&ended);
		return NULL;
	}
	sem_init(&own.begun, 0, 0);
	if (pthread_create(&t, &detached, make_the_next, &own) != 0)
		abort();
	sem_wait(&own.begun);
	sem_destroy(&own.begun);
	alive--;
	return NULL;
}

static void begin_chains(int until_slept)
{
	struct link first = { .until_slept = until_slept };
	pthread_t t;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	sem_init(&ended, 0, 0);
	sem_init(&first.begun, 0, 0);
	made = alive = most = slept = 0;
	for (int i = 0; i < CHAINS; i++) {
		if (pthread_create(&t, &detached, make_the_next, &first) != 0)
			abort();
		sem_wait(&first.begun);
	}
}

static void await_chains(void)
{
	for (int i = 0; i < CHAINS; i++)
		sem_wait(&ended);
	while (alive > 0)
		usleep(1000);
}

/* A thread that has made the next one has its turn before many more are made. */
static void few_of_a_chain_are_alive(void)
{
	begin_chains(0);
	await_chains();
	printf("too many: %d\n", most > MOST);
}

/* The chains end only when main has slept so often. */
static void others_have_turns_beside_a_chain(void)
{
	begin_chains(1);
	for (; slept < ENOUGH; slept++)
		usleep(100);
	await_chains();
	printf("slept: %d\n", slept);
}

static const struct compare_case cases[] = {
	COMPARE(few_of_a_chain_are_alive),
	COMPARE(others_have_turns_beside_a_chain),
};

COMPARE_MAIN(cases)
