/* SPDX-License-Identifier: MIT */
/* ring.c - two plain pthreads put numbers into a ring; any number may take them out */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

#define NUMBERS	1000

static void *memory;
static size_t bytes;

static void *produce(void *unused)
{
	struct weft_ring *ring;

	/* Another process would do the same with its own mapping of the memory. */
	if (weft_ring_attach(&ring, memory, bytes) != 0)
		return NULL;
	for (uint64_t i = 1; i <= NUMBERS; i++)
		while (weft_ring_push(ring, i) != 0)
			sched_yield();		/* it is full */
	return unused;
}

int main(void)
{
	uint64_t number, sum = 0, capacity = 64;
	struct weft_ring *ring;
	pthread_t thread[2];

	bytes = weft_ring_bytes(capacity);
	if (posix_memalign(&memory, WEFT_RING_ALIGN, bytes) != 0 ||
	    weft_ring_init(&ring, memory, bytes, capacity) != 0)
		return 1;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, produce, NULL) != 0)
			return 1;
	for (int i = 0; i < 2 * NUMBERS; i++, sum += number)
		while (weft_ring_pop(ring, &number) != 0)
			sched_yield();		/* it is empty */
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	free(memory);
	printf("the sum is %llu\n", (unsigned long long)sum);
	return sum != NUMBERS * (NUMBERS + 1);
}
