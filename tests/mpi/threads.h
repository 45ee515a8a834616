/* SPDX-License-Identifier: MIT */
/* tests/mpi/threads.h - threads of weft (WEFT), light or not, or those of pthread.h */
#ifndef WEFT_TESTS_MPI_THREADS_H
#define WEFT_TESTS_MPI_THREADS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MOST	1024

#ifdef WEFT
#include <weft.h>

static unsigned threads_flags;

static inline void threads_begin(int light)
{
	threads_flags = light ? WEFT_LIGHT : 0;
	if (weft_start(NULL) != 0)
		exit(9);
}

static inline void threads_end(void)
{
	if (weft_wait_all(WEFT_FOREVER) != 0 || weft_stop() != 0)
		exit(9);
}

static uint64_t threads_ids[THREADS_MOST];

/* MPI's own functions need more than 64 KiB of stack in places. */
static inline void threads_spawn(int count, void *(*fn)(void *))
{
	const struct weft_attr attr = {
		.flags = threads_flags, .stack_bytes = 256 * 1024,
	};

	for (long i = 0; i < count; i++)
		if (weft_spawn(&threads_ids[i], &attr, fn, (void *)i) != 0)
			exit(9);
}

static inline void threads_join(int count)
{
	for (long i = 0; i < count; i++)
		if (weft_join(threads_ids[i], NULL) != 0)
			exit(9);
}
#else
#include <pthread.h>

static inline void threads_begin(int light)
{
	(void)light;
}

static inline void threads_end(void)
{
}

static pthread_t threads_ids[THREADS_MOST];

static inline void threads_spawn(int count, void *(*fn)(void *))
{
	for (long i = 0; i < count; i++)
		if (pthread_create(&threads_ids[i], NULL, fn, (void *)i) != 0)
			exit(9);
}

static inline void threads_join(int count)
{
	for (long i = 0; i < count; i++)
		if (pthread_join(threads_ids[i], NULL) != 0)
			exit(9);
}
#endif

static inline void threads_run(int count, void *(*fn)(void *))
{
	threads_spawn(count, fn);
	threads_join(count);
}
#endif
