/* SPDX-License-Identifier: MIT */
/* move.h - several threads at once that go from kernel thread to kernel thread */
#ifndef WEFT_TESTS_MOVE_H
#define WEFT_TESTS_MOVE_H

#include "compare.h"

#include <sched.h>

#define THREADS	8

static pthread_barrier_t all_here;

/* Each may go on on another kernel thread after this. */
static void move(void)
{
	for (int i = 0; i < 10; i++) {
		sched_yield();
		usleep(100);
	}
}

/* Runs fn in several threads at once; returns the sum of their results. */
static long in_threads(void *(*fn)(void *arg))
{
	pthread_t t[THREADS];
	long sum = 0;

	pthread_barrier_init(&all_here, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		t[i] = start(fn, (void *)i);
	for (int i = 0; i < THREADS; i++)
		sum += (long)finish(t[i]);
	return sum;
}

#endif
