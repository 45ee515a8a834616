/* SPDX-License-Identifier: MIT */
/*
 * control.c - threads at a mutex and a semaphore, for a library that is made wrong
 *
 * It ends with 0, or with 2 by the runtime's report of a deadlock, as no foreign thread is
 * there that could wake one of its threads.
 */
#include <stddef.h>
#include <stdint.h>

#include "weft.h"

#define CREW	4
#define ROUNDS	8

static struct weft_mutex mutex = WEFT_MUTEX_INIT;
static struct weft_sem sem;

static void *work(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		if (weft_mutex_lock(&mutex) != 0 || weft_mutex_unlock(&mutex) != 0 ||
		    weft_sem_post(&sem) != 0 || weft_sem_wait(&sem) != 0)
			return &sem;
	return unused;
}

int main(void)
{
	uint64_t id[CREW];
	void *result;

	if (weft_start(NULL) != 0 || weft_sem_init(&sem, 0) != 0)
		return 3;
	for (int i = 0; i < CREW; i++)
		if (weft_spawn(&id[i], NULL, work, NULL) != 0)
			return 3;
	for (int i = 0; i < CREW; i++)
		if (weft_join(id[i], &result) != 0 || result)
			return 1;
	return weft_stop() != 0;
}
