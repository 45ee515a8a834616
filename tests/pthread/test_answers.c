/* SPDX-License-Identifier: MIT */
/* test_answers.c - what calls return that are used wrongly, or at the edge */
#include "compare.h"

#include <semaphore.h>

static pthread_mutex_t made(int type, int protocol)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutex_init(&m, &attr);
	return m;
}

static void *unlock_it(void *arg)
{
	return (void *)(long)pthread_mutex_unlock(arg);
}

static void *try_it(void *arg)
{
	int error = pthread_mutex_trylock(arg);

	if (!error)
		pthread_mutex_unlock(arg);
	return (void *)(long)error;
}

static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void *wait_without(void *mutex)
{
	struct timespec at = soon(CLOCK_REALTIME, 20);

	return (void *)(long)pthread_cond_timedwait(&never, mutex, &at);
}

/* What is not checked is not tried: that would be undefined. */
static void a_condition_wants_ones_own_mutex(void)
{
	const int types[] = { PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK };

	for (int i = 0; i < 2; i++) {
		pthread_mutex_t m = made(types[i], PTHREAD_PRIO_NONE);

		show("free", (int)(long)finish(start(wait_without, &m)));
		show("left alone", (int)(long)finish(start(try_it, &m)));
		pthread_mutex_lock(&m);
		show("another's", (int)(long)finish(start(wait_without, &m)));
		show("own", (int)(long)wait_without(&m));
		show("unlock", pthread_mutex_unlock(&m));
	}
}

static void a_mutex_that_inherits_is_its_owners(void)
{
	const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
			      PTHREAD_MUTEX_ERRORCHECK,
			      PTHREAD_MUTEX_ADAPTIVE_NP };

	for (int i = 0; i < 4; i++) {
		pthread_mutex_t m = made(types[i], PTHREAD_PRIO_INHERIT);

		finish(start(try_it, &m));
		show("free", pthread_mutex_unlock(&m));
		show("lock", pthread_mutex_lock(&m));
		show("own", pthread_mutex_trylock(&m));
		show("another's", (int)(long)finish(start(unlock_it, &m)));
		show("still taken", (int)(long)finish(start(try_it, &m)));
		show("unlock", pthread_mutex_unlock(&m));
	}
}

static const struct timespec bad = { 0, -1 };

static void wrong_times_are_told_of(void)
{
	pthread_mutex_t m = made(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE);
	sem_t sem;

	finish(start(try_it, &m));
	pthread_mutex_lock(&m);
	show("own", pthread_mutex_timedlock(&m, &bad));
	pthread_mutex_unlock(&m);
	show("free", pthread_mutex_timedlock(&m, &bad));
	sem_init(&sem, 0, 1);
	show_errno("semaphore", sem_timedwait(&sem, &bad));
	show_errno("is left", sem_trywait(&sem));
}

static void *lock_by_zero(void *arg)
{
	const struct timespec zero = { 0, 0 };

	return (void *)(long)pthread_mutex_clocklock(arg, CLOCK_MONOTONIC,
						     &zero);
}

static void a_time_of_zero_is_over(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&m, &attr);
	finish(start(try_it, &m));
	pthread_mutex_lock(&m);
	show("robust", (int)(long)finish(start(lock_by_zero, &m)));
	pthread_mutex_unlock(&m);
}

static const struct compare_case cases[] = {
	COMPARE(a_condition_wants_ones_own_mutex),
	COMPARE(a_mutex_that_inherits_is_its_owners),
	COMPARE(wrong_times_are_told_of),
	COMPARE(a_time_of_zero_is_over),
};

COMPARE_MAIN(cases)
