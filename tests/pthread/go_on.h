/* SPDX-License-Identifier: MIT */
/* go_on.h - two threads that go on meanwhile, on one VCPU too */
#ifndef WEFT_TESTS_GO_ON_H
#define WEFT_TESTS_GO_ON_H

#include <semaphore.h>

#include "compare.h"

static sem_t go_ping, go_pong;

static void go_on_init(void)
{
	sem_init(&go_ping, 0, 0);
	sem_init(&go_pong, 0, 0);
}

static void *go_on_answer(void *arg)
{
	for (long i = 0; i < (long)arg; i++) {
		while (sem_wait(&go_ping) != 0)
			;
		sem_post(&go_pong);
	}
	return arg;
}

static void go_on(long rounds)
{
	pthread_t t = start(go_on_answer, (void *)rounds);

	for (long i = 0; i < rounds; i++) {
		sem_post(&go_ping);
		while (sem_wait(&go_pong) != 0)
			;
	}
	finish(t);
}

#endif
