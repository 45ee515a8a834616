/* SPDX-License-Identifier: MIT */
/* inherit.h - mutexes that inherit priorities (PTHREAD_PRIO_INHERIT) */
#ifndef WEFT_TESTS_INHERIT_H
#define WEFT_TESTS_INHERIT_H

#include "compare.h"

static inline void make(pthread_mutex_t *to, int type, int robust, int shared)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	if (pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) != 0)
		abort();
	if (robust)
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (shared)
		pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	show("init", pthread_mutex_init(to, &attr));
	pthread_mutexattr_destroy(&attr);
}

static inline void *do_nothing(void *arg)
{
	return arg;
}

static inline void *try_it(void *arg)
{
	int error = pthread_mutex_trylock(arg);

	if (!error)
		pthread_mutex_unlock(arg);
	return (void *)(long)error;
}

static inline void try_elsewhere(pthread_mutex_t *it)
{
	show("another tries", (int)(long)finish(start(try_it, it)));
}

#endif
