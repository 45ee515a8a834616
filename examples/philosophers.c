/* SPDX-License-Identifier: MIT */
/*
 * philosophers [MEALS] - five philosophers at a table, and none goes hungry
 *
 * A fork is a channel that holds one message: the philosopher that has received
 * it has the fork. A philosopher waits for either fork by alt, and puts the
 * first back when the second is not there. Nobody holds one while waiting for
 * the other, so they cannot all starve. The table counts the meals.
 */
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

#define SEATS	5

WEFT_CHAN_OF(fork_of, char);

static struct fork_of forks[SEATS];
static long meals;		/* of each */

static void must(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "philosophers: %s: %d\n", what, error);
		exit(1);
	}
}

/* Both forks, or neither: returns 1 with both. */
static int take_both(int left, int right)
{
	char fork;
	struct weft_alt a[2] = { { .op = WEFT_ALT_NONE } };
	int first, second;

	fork_of_alt_recv(&a[0], forks[left], &fork);
	fork_of_alt_recv(&a[1], forks[right], &fork);
	first = weft_alt(a, 2, WEFT_FOREVER);
	must(first < 0 ? first : a[first].error, "alt");
	second = first == 0 ? right : left;
	if (fork_of_try_recv(forks[second], &fork) == 0)
		return 1;
	must(fork_of_send(forks[first == 0 ? left : right], fork), "send");
	weft_yield();
	return 0;
}

static void *dine(void *arg)
{
	int seat = (int)(intptr_t)arg, left = seat, right = (seat + 1) % SEATS;

	for (long eaten = 0; eaten < meals; ) {
		if (!take_both(left, right))
			continue;
		eaten++;
		must(fork_of_send(forks[left], 'f'), "send");
		must(fork_of_send(forks[right], 'f'), "send");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t id[SEATS];

	meals = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	must(weft_start(NULL), "start");
	for (int i = 0; i < SEATS; i++) {
		must(fork_of_create(&forks[i], 1, 0), "channel");
		must(fork_of_send(forks[i], 'f'), "send");
	}
	for (int i = 0; i < SEATS; i++)
		must(weft_spawn(&id[i], NULL, dine, (void *)(intptr_t)i),
		     "spawn");
	for (int i = 0; i < SEATS; i++)
		must(weft_join(id[i], NULL), "join");
	for (int i = 0; i < SEATS; i++)
		must(fork_of_destroy(forks[i]), "destroy");
	printf("%d philosophers had %ld meals each\n", SEATS, meals);
	return weft_stop();
}
