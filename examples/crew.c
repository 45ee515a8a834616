/* SPDX-License-Identifier: MIT */
/*
 * crew - plain pthreads that share work through a ring; the runtime is not used
 *
 * Adds up the squares of some numbers: one thread puts numbers into the ring,
 * several take them out. A 0 tells one of them that there are no more.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/ring.h>

#define CREW		4
#define CAPACITY	64
#define NUMBERS		UINT64_C(100000)

static struct weft_ring *ring;

static void put(uint64_t n)
{
	while (weft_ring_push(ring, n) != 0)
		sched_yield();
}

static void *add_squares(void *sum)
{
	uint64_t n;

	for (;;) {
		if (weft_ring_pop(ring, &n) != 0) {
			sched_yield();
			continue;
		}
		if (n == 0)
			return NULL;
		*(uint64_t *)sum += n * n;
	}
}

int main(void)
{
	size_t bytes = weft_ring_bytes(CAPACITY);
	void *memory = aligned_alloc(WEFT_RING_ALIGN, bytes);
	uint64_t sum[CREW] = { 0 }, all = 0;
	pthread_t crew[CREW];

	if (!memory || weft_ring_init(&ring, memory, bytes, CAPACITY))
		return 1;
	for (int i = 0; i < CREW; i++)
		if (pthread_create(&crew[i], NULL, add_squares, &sum[i]))
			return 1;
	for (uint64_t n = 1; n <= NUMBERS; n++)
		put(n);
	for (int i = 0; i < CREW; i++)
		put(0);
	for (int i = 0; i < CREW; i++) {
		pthread_join(crew[i], NULL);
		all += sum[i];
	}
	printf("the squares of 1 to %llu add up to %llu\n",
	       (unsigned long long)NUMBERS, (unsigned long long)all);
	free(memory);
	return all != NUMBERS * (NUMBERS + 1) * (2 * NUMBERS + 1) / 6;
}
