/* SPDX-License-Identifier: MIT */
/* shared.h - what the tests of shared objects share between processes */
#ifndef WEFT_TESTS_PTHREAD_SHARED_H
#define WEFT_TESTS_PTHREAD_SHARED_H

#include "compare.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define MOST_THREADS	20

/* A waiting thread has said so, under the mutex, before it waits. */
struct common {
	pthread_mutex_t m;
	pthread_cond_t changed, left;
	pthread_mutex_t plain;
	int waiting, tickets, served;
	long counter;
	int state;
};

static struct common *c;

static inline void make_common(int robust, clockid_t clock)
{
	pthread_mutexattr_t of_mutex;
	pthread_condattr_t of_cond;

	c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&of_mutex);
	pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&c->plain, &of_mutex);
	if (robust)
		pthread_mutexattr_setrobust(&of_mutex, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&c->m, &of_mutex);
	pthread_condattr_init(&of_cond);
	pthread_condattr_setpshared(&of_cond, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&c->left, &of_cond);
	pthread_condattr_setclock(&of_cond, clock);
	pthread_cond_init(&c->changed, &of_cond);
}

static inline void lock(void)
{
	if (pthread_mutex_lock(&c->m) == EOWNERDEAD)
		pthread_mutex_consistent(&c->m);
}

static inline void unlock(void)
{
	pthread_mutex_unlock(&c->m);
}

/* The mutex is the caller's, as when it is cancelled in a wait. */
static inline void unlock_it(void *unused)
{
	(void)unused;
	unlock();
}

static inline void start_all(pthread_t *t, int count, void *(*fn)(void *arg))
{
	for (int i = 0; i < count; i++)
		t[i] = start(fn, NULL);
}

static inline void finish_all(const pthread_t *t, int count)
{
	for (int i = 0; i < count; i++)
		finish(t[i]);
}

static inline void be_child(void *(*fn)(void *arg), int threads)
{
	pthread_t t[MOST_THREADS];

	start_all(t, threads, fn);
	finish_all(t, threads);
	_exit(0);
}

static inline pid_t child_with(void *(*fn)(void *arg), int threads)
{
	pid_t child = fork();

	if (child == 0)
		be_child(fn, threads);
	return child;
}

static inline void reap(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		abort();
	printf("%s %d\n", WIFSIGNALED(status) ? "signal" : "status",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

#endif
