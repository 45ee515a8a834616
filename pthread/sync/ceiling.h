/* SPDX-License-Identifier: MIT */
/* pthread/sync/ceiling.h - mutexes with a priority ceiling (PTHREAD_PRIO_PROTECT) */
#ifndef WEFT_PTHREAD_SYNC_CEILING_H
#define WEFT_PTHREAD_SYNC_CEILING_H

#include <pthread.h>
#include <stdint.h>

/* How often the thread's priority was raised to each ceiling, from 1 to 99. */
struct wefti_ceilings {
	uint32_t held[100];
};

/*
 * Used while the runtime is on. Does what pthread_mutex_lock() does, until the deadline;
 * with WEFT_NO_WAIT, what pthread_mutex_trylock() does.
 */
int wefti_ceiling_lock(pthread_mutex_t *m, int64_t deadline);
int wefti_ceiling_unlock(pthread_mutex_t *m);

/* At start: libc has raised the first thread's priority to this ceiling. */
void wefti_ceiling_begin(int ceiling);

/* The calling thread ends. */
void wefti_ceiling_thread_ends(void);

#endif
