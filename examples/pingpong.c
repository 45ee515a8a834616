/* SPDX-License-Identifier: MIT */
/* pingpong - two threads take turns, with a mutex and condition variables */
#include <time.h>

#include "either.h"

#define ROUNDS	200000

struct table {
	struct either_mutex mutex;
	struct either_cond turned[2];
	int turn;		/* under mutex: the player's number */
};

struct player {
	struct table *table;
	int number;
};

static void *play(void *arg)
{
	struct player *me = arg;
	struct table *t = me->table;

	for (int i = 0; i < ROUNDS; i++) {
		either_must(either_lock(&t->mutex), "lock");
		while (t->turn != me->number)
			either_must(either_wait(&t->turned[me->number],
						&t->mutex), "wait");
		t->turn = !me->number;
		either_must(either_signal(&t->turned[t->turn]), "signal");
		either_must(either_unlock(&t->mutex), "unlock");
	}
	return NULL;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(void)
{
	static struct table table;
	struct player player[2] = { { &table, 0 }, { &table, 1 } };
	either_thread id[2];
	double begin;

	either_must(either_start(0), "start");
	either_must(either_mutex_init(&table.mutex), "mutex");
	for (int i = 0; i < 2; i++)
		either_must(either_cond_init(&table.turned[i]), "cond");
	begin = seconds();
	for (int i = 0; i < 2; i++)
		either_must(either_spawn(&id[i], play, &player[i]), "spawn");
	for (int i = 0; i < 2; i++)
		either_must(either_join(id[i], NULL), "join");
	printf("%s: %d rounds, %.0f ns each\n", EITHER_NAME, ROUNDS,
	       (seconds() - begin) * 1e9 / ROUNDS);
	either_must(either_stop(), "stop");
	return 0;
}
