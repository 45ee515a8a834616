/* SPDX-License-Identifier: MIT */
/* turns.h - two pthreads that take turns, by a mutex and a condition variable */
#ifndef WEFT_TESTS_TURNS_H
#define WEFT_TESTS_TURNS_H

#include <pthread.h>

#define TURNS	200	/* of each */

static struct turns {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	long turn, taken;
} turns = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };

/* `which` is 0 or 1. */
static inline void *take_turns(void *which)
{
	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&turns.mutex);
		while (turns.turn != (long)which)
			pthread_cond_wait(&turns.cond, &turns.mutex);
		turns.turn = !turns.turn;
		turns.taken++;
		pthread_cond_broadcast(&turns.cond);
		pthread_mutex_unlock(&turns.mutex);
	}
	return which;
}

/* Returns how many both have taken, or -1. */
static inline long take_all_turns(void)
{
	pthread_t t[2];

	turns.taken = 0;
	for (long i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, take_turns, (void *)i) != 0)
			return -1;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return turns.taken;
}

#endif
