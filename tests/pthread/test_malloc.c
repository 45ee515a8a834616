/* SPDX-License-Identifier: MIT */
/* test_malloc.c - threads that spend their slices in malloc, with its locks */
#include "compare.h"

#include <malloc.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>

#define BLOCKS		20000
#define BLOCK_BYTES	5000

static void *block[BLOCKS];
static _Atomic int goes_on;
static _Atomic long trims;

/* It has the lock of an arena nearly all the time, and longer than a slice. */
static void *trim(void *unused)
{
	while (goes_on) {
		malloc_trim(0);
		trims++;
	}
	return unused;
}

static void *allocate(void *unused)
{
	void *p = malloc(3 * BLOCK_BYTES);

	if (!p)
		abort();
	free(p);
	return unused;
}

/* Every second is free: none of these pages can be given back as a whole. */
static void have_many_blocks(void)
{
	for (int i = 0; i < BLOCKS; i++)
		block[i] = malloc(BLOCK_BYTES);
	for (int i = 0; i < BLOCKS; i += 2)
		free(block[i]);
}

/*
 * A thread that makes threads wants that lock too, where its VCPU cannot be
 * taken.
 */
static void threads_are_made_while_malloc_is_locked(void)
{
	pthread_t busy[2];

	have_many_blocks();
	goes_on = 1;
	for (int i = 0; i < 2; i++)
		busy[i] = start(trim, NULL);
	while (trims == 0)
		usleep(1000);
	for (long i = 0; i < scaled(20); i++) {
		finish(start(allocate, NULL));
		usleep(20000);		/* slices end */
	}
	goes_on = 0;
	for (int i = 0; i < 2; i++)
		finish(busy[i]);
	printf("made\n");
}

static sem_t begun;
static FILE *from;
static volatile sig_atomic_t got;

static void note(int sig)
{
	got = sig;
}

static long spins;	/* about as long as a trim */

static void spin(long n)
{
	while (n-- > 0 && !got)
		;
}

static double seconds_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void measure_spins(void)
{
	const clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
	double begin = seconds_of(clock), trimmed, spun;

	malloc_trim(0);
	trimmed = seconds_of(clock);
	spin(1000000);
	spun = seconds_of(clock);
	spins = (long)(1e6 * (trimmed - begin) / (spun - trimmed));
}

/*
 * Its VCPU is taken while it reads. Half of the time after that it has malloc's lock;
 * and it calls nothing of which anybody but libc learns.
 */
static void *trim_after_reading(void *unused)
{
	sem_post(&begun);
	fgetc(from);		/* by libc's own read() */
	while (!got) {
		malloc_trim(0);
		trims++;
		spin(spins);
	}
	return unused;
}

static void a_blocked_thread_in_malloc_is_interrupted(void)
{
	have_many_blocks();
	measure_spins();
	signal(SIGUSR1, note);
	for (long i = 0; i < scaled(40); i++) {
		int ends[2];
		pthread_t thread;
		long before = trims;

		if (pipe(ends) != 0)
			abort();
		got = 0;
		from = fdopen(ends[0], "r");
		thread = start(trim_after_reading, NULL);
		sem_wait(&begun);
		usleep(30000);
		(void)!write(ends[1], "x", 1);
		while (trims == before)
			sched_yield();
		pthread_kill(thread, SIGUSR1);
		finish(thread);
		fclose(from);
		close(ends[1]);
	}
	printf("all were interrupted\n");
}

static const struct compare_case cases[] = {
	COMPARE(threads_are_made_while_malloc_is_locked),
	COMPARE(a_blocked_thread_in_malloc_is_interrupted),
};

COMPARE_MAIN(cases)
