/* SPDX-License-Identifier: MIT */
/* smoke_random.c - what getrandom() has for each thread is given to the next threads */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define MANY	6000	/* more than a runtime would keep for reuse */
#define ROUNDS	6
#define STACK	65536

static pthread_barrier_t all_are_here;

static void *use_random(void *arg)
{
	char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		exit(1);
	pthread_barrier_wait(&all_are_here);
	return arg;
}

/* The states' pages, which the kernel may drop. Nothing else here has such pages. */
static long droppable_kib(void)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[512];
	long sum = 0, size = 0;

	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "Size: %ld", &size);
		if (strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " dp"))
			sum += size;
	}
	if (f)
		fclose(f);
	return sum;
}

/*
 * A round may begin before the blocks of the last one are taken apart, so it may take some
 * more states. If no state were used again, all rounds would take as many as the first:
 * the last then has ROUNDS times as many, and the second has twice as many.
 */
int main(void)
{
	static pthread_t t[MANY];
	long first = 0, last = 0;
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (int round = 0; round < ROUNDS; round++) {
		pthread_barrier_init(&all_are_here, NULL, MANY);
		for (int i = 0; i < MANY; i++)
			if (pthread_create(&t[i], &attr, use_random, NULL) != 0)
				exit(1);
		for (int i = 0; i < MANY; i++)
			pthread_join(t[i], NULL);
		pthread_barrier_destroy(&all_are_here);
		last = droppable_kib();
		if (round == 1)
			first = last;
	}
	printf("%s\n", last > 2 * first ? "grows" : "flat");
	return 0;
}
