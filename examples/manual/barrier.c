/* SPDX-License-Identifier: MIT */
/* barrier.c - three threads go through four rounds together */
#include <stdatomic.h>
#include <stdio.h>
#include <weft.h>

#define THREADS	3
#define ROUNDS	4

static struct weft_barrier barrier;
static _Atomic int arrived, rounds;

static void *take_part(void *arg)
{
	int *early = arg;

	for (int i = 1; i <= ROUNDS; i++) {
		arrived++;
		if (weft_barrier_wait(&barrier) == WEFT_BARRIER_SERIAL)
			rounds++;	/* one thread of each round */
		*early += arrived < i * THREADS;
		weft_barrier_wait(&barrier);
	}
	return NULL;
}

int main(void)
{
	int early[THREADS] = { 0 };
	uint64_t id[THREADS];

	if (weft_start(NULL) != 0 || weft_barrier_init(&barrier, THREADS) != 0)
		return 1;
	for (int i = 0; i < THREADS; i++)
		if (weft_spawn(&id[i], NULL, take_part, &early[i]) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++)
		if (weft_join(id[i], NULL) != 0 || early[i])
			return 1;
	printf("%d rounds\n", rounds);
	return rounds != ROUNDS || weft_barrier_destroy(&barrier) != 0 ||
	       weft_stop() != 0;
}
