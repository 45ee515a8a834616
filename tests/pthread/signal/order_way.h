/* SPDX-License-Identifier: MIT */
/* order_way.h - a way to wait, and the signal that the first thread gets */
#ifndef WEFT_TESTS_ORDER_WAY_H
#define WEFT_TESTS_ORDER_WAY_H

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>

struct way {
	const char *name;
	void (*hold)(void);	/* before the wait, by the thread that ends it; or NULL */
	void (*wait)(void);
	void (*end)(void);	/* NULL: hold() has done it */
};

static pthread_t first;
static volatile int handled;

static void count(int signal)
{
	(void)signal;
	handled++;
}

static inline void first_is_this_thread(void)
{
	const struct sigaction action = { .sa_handler = count };

	first = pthread_self();
	sigaction(SIGUSR1, &action, NULL);
}

static inline void take(sem_t *sem)
{
	while (sem_wait(sem) != 0)
		;
}

#endif
