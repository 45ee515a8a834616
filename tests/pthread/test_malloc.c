/* SPDX-License-Identifier: MIT */
/* test_malloc.c - threads that spend their slices in malloc, with its locks */
#include "compare.h"

#include <malloc.h>
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

/* Who makes threads wants that lock too, where its VCPU cannot be taken. */
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

static const struct compare_case cases[] = {
	COMPARE(threads_are_made_while_malloc_is_locked),
};

COMPARE_MAIN(cases)
