/* SPDX-License-Identifier: MIT */
/* interrupt_cond.h - what test_interrupt_cond waits for, and its handlers */
#ifndef WEFT_TESTS_INTERRUPT_COND_H
#define WEFT_TESTS_INTERRUPT_COND_H

#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <threads.h>

#define HANDLERS	8

/* What the waiting thread and the others use; in memory that processes may share. */
struct place {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	pthread_rwlock_t rwlock;
	pthread_barrier_t barrier;
};

static struct place *at;
static sem_t begun, in_handler, go_on;
static _Atomic int handled, over, is_held;

static void count(int signal)
{
	(void)signal;
	handled++;
}

/* A handler that lasts for as long as the main thread wants. */
static void stay(int signal)
{
	(void)signal;
	handled++;
	sem_post(&in_handler);
	while (sem_wait(&go_on) != 0)
		;
}

static void handle(void (*handler)(int signal), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(SIGUSR1, &action, NULL);
}

static void wait_for(sem_t *sem)
{
	while (sem_wait(sem) != 0)
		;
}

static void make_place(int is_shared)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t cond;

	at = mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		abort();
	pthread_mutexattr_init(&mutex);
	pthread_condattr_init(&cond);
	pthread_mutexattr_setpshared(&mutex, is_shared);
	pthread_condattr_setpshared(&cond, is_shared);
	if (pthread_mutex_init(&at->mutex, &mutex) != 0 ||
	    pthread_cond_init(&at->cond, &cond) != 0 ||
	    pthread_rwlock_init(&at->rwlock, NULL) != 0 ||
	    pthread_barrier_init(&at->barrier, NULL, 2) != 0 ||
	    sem_init(&begun, 0, 0) != 0 || sem_init(&in_handler, 0, 0) != 0 ||
	    sem_init(&go_on, 0, 0) != 0)
		abort();
	handled = over = is_held = 0;
}

#endif
