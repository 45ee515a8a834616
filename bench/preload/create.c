/* SPDX-License-Identifier: MIT */
/*
 * preload-create - what do the creation and the join of a pthread cost?
 *
 * preload-create N makes a thread that does nothing and joins it, N times, after
 * a tenth as often to warm up, and prints the nanoseconds of one.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void *nothing(void *arg)
{
	return arg;
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void make(long count)
{
	for (long i = 0; i < count; i++) {
		void *number = (void *)(intptr_t)i, *result;
		pthread_t thread;

		if (pthread_create(&thread, NULL, nothing, number) ||
		    pthread_join(thread, &result) || result != number)
			exit(1);
	}
}

int main(int argc, char **argv)
{
	long count = argc == 2 ? atol(argv[1]) : 0;
	int64_t began;

	if (count < 1)
		return 2;
	make(count / 10);
	began = now();
	make(count);
	printf("%.1f\n", (double)(now() - began) / (double)count);
	return 0;
}
