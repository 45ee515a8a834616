/* SPDX-License-Identifier: MIT */
/*
 * test_inherit.c - mutexes that inherit priorities (PTHREAD_PRIO_INHERIT)
 *
 * Private and shared, robust and not, of each type, in one process.
 */
#include "inherit.h"

#include <signal.h>

#define THREADS	4

static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
			     PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP };

static pthread_mutex_t m, other;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long counter;
static _Atomic int flag;

static void *unlock_it(void *arg)
{
	return (void *)(long)pthread_mutex_unlock(arg);
}

static void *lock_and_end(void *arg)
{
	show("lock", pthread_mutex_lock(arg));
	return NULL;
}

/* --- in one process -------------------------------------------------- */

/* A second lock of a plain one waits, in vain: only with a time. */
static void lock_each_way(int type, int robust, int shared)
{
	struct timespec at = soon(CLOCK_REALTIME, 10);

	printf("type %d robust %d shared %d\n", type, robust, shared);
	make(&m, type, robust, shared);
	show("lock", pthread_mutex_lock(&m));
	show("trylock", pthread_mutex_trylock(&m));
	show("timed", pthread_mutex_timedlock(&m, &at));
	at = soon(CLOCK_MONOTONIC, 10);
	show("clock", pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &at));
	show("clock", pthread_mutex_clocklock(&m, CLOCK_PROCESS_CPUTIME_ID, &at));
	try_elsewhere(&m);
	show("another gives it back", (int)(long)finish(start(unlock_it, &m)));
	if (type == PTHREAD_MUTEX_RECURSIVE)
		for (int i = 0; i < 3; i++)
			show("unlock", pthread_mutex_unlock(&m));
	show("unlock", pthread_mutex_unlock(&m));
	show("unlock", pthread_mutex_unlock(&m));
	try_elsewhere(&m);
	show("trylock", pthread_mutex_trylock(&m));
	show("unlock", pthread_mutex_unlock(&m));
	show("timed", pthread_mutex_timedlock(&m, &at));
	show("unlock", pthread_mutex_unlock(&m));
	show("clock", pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &at));
	show("unlock", pthread_mutex_unlock(&m));
	show("consistent", pthread_mutex_consistent(&m));
	show("destroy", pthread_mutex_destroy(&m));
}

static void *lock_all(void *unused)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		for (int k = 0; k < 4; k++)
			lock_each_way(types[i], k & 1, k >> 1);
	return unused;
}

static void a_thread_locks_all_kinds(void)
{
	finish(start(lock_all, NULL));
}

static void the_first_thread_locks_all_kinds(void)
{
	finish(start(do_nothing, NULL));
	lock_all(NULL);
}

static void *count_up(void *rounds)
{
	for (long i = 0; i < (long)rounds; i++) {
		if (i % 16 == 0 ? pthread_mutex_lock(&other) : 0)
			abort();
		if (pthread_mutex_lock(&m) != 0)
			abort();
		counter++;
		if (i % 64 == 0)
			sched_yield();
		if (i % 256 == 0)
			usleep(1);
		if (pthread_mutex_unlock(&m) != 0)
			abort();
		if (i % 16 == 0 ? pthread_mutex_unlock(&other) : 0)
			abort();
	}
	return NULL;
}

static void one_at_a_time(void)
{
	const long rounds = scaled(3000);

	for (int k = 0; k < 4; k++) {
		pthread_t threads[THREADS];

		counter = 0;
		make(&m, PTHREAD_MUTEX_DEFAULT, k & 1, k >> 1);
		make(&other, PTHREAD_MUTEX_DEFAULT, 1, 1);
		for (int i = 0; i < THREADS; i++)
			threads[i] = start(count_up, (void *)rounds);
		for (int i = 0; i < THREADS; i++)
			finish(threads[i]);
		printf("counted %d\n", counter == THREADS * rounds);
		show("destroy", pthread_mutex_destroy(&m));
	}
}

static void *wait_in_time(void *unused)
{
	struct timespec at = soon(CLOCK_REALTIME, 20);

	show("timed", pthread_mutex_timedlock(&m, &at));
	at = soon(CLOCK_MONOTONIC, 20);
	show("clock", pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &at));
	at.tv_nsec = -1;
	show("no time", pthread_mutex_timedlock(&m, &at));
	flag = 1;
	show("lock", pthread_mutex_lock(&m));
	show("unlock", pthread_mutex_unlock(&m));
	return unused;
}

static void waits_end_in_time(void)
{
	for (int k = 0; k < 4; k++) {
		pthread_t t;

		flag = 0;
		make(&m, PTHREAD_MUTEX_DEFAULT, k & 1, k >> 1);
		show("lock", pthread_mutex_lock(&m));
		t = start(wait_in_time, NULL);
		while (!flag)
			usleep(1000);
		usleep(5000);
		pthread_mutex_unlock(&m);
		finish(t);
		show("destroy", pthread_mutex_destroy(&m));
	}
}

static void *wait_for_flag(void *unused)
{
	struct timespec at = soon(CLOCK_REALTIME, 10);

	pthread_mutex_lock(&m);
	show("timed", pthread_cond_timedwait(&cond, &m, &at));
	flag = 1;
	while (flag < 2)
		if (pthread_cond_wait(&cond, &m) != 0)
			abort();
	show("has it", pthread_mutex_trylock(&m));
	show("unlock", pthread_mutex_unlock(&m));
	return unused;
}

static void condition_variables_give_it_back(void)
{
	for (int k = 0; k < 4; k++) {
		pthread_t t;

		flag = 0;
		make(&m, PTHREAD_MUTEX_ERRORCHECK, k & 1, k >> 1);
		show("not the caller's", pthread_cond_wait(&cond, &m));
		t = start(wait_for_flag, NULL);
		while (!flag)
			usleep(1000);
		pthread_mutex_lock(&m);
		flag = 2;
		pthread_cond_broadcast(&cond);
		pthread_mutex_unlock(&m);
		finish(t);
	}
}

static void interrupted(int signal)
{
	(void)signal;
	flag++;
}

static void *wait_long(void *unused)
{
	flag = 1;
	show("lock", pthread_mutex_lock(&m));
	show("unlock", pthread_mutex_unlock(&m));
	return unused;
}

/* A handler runs while its thread waits. */
static void a_handler_interrupts_a_wait(void)
{
	pthread_t t;

	signal(SIGUSR1, interrupted);
	make(&m, PTHREAD_MUTEX_DEFAULT, 1, 1);
	pthread_mutex_lock(&m);
	flag = 0;
	t = start(wait_long, NULL);
	while (!flag)
		usleep(1000);
	usleep(5000);
	show("kill", pthread_kill(t, SIGUSR1));
	while (flag < 2)
		usleep(1000);
	pthread_mutex_unlock(&m);
	finish(t);
}

/* --- owners that end ------------------------------------------------- */

static void the_next_owner_is_told(void)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		make(&m, types[i], 1, 0);
		finish(start(lock_and_end, &m));
		show("lock", pthread_mutex_lock(&m));
		try_elsewhere(&m);
		show("consistent", pthread_mutex_consistent(&m));
		show("consistent", pthread_mutex_consistent(&m));
		show("unlock", pthread_mutex_unlock(&m));
		try_elsewhere(&m);
		finish(start(lock_and_end, &m));
		show("trylock", pthread_mutex_trylock(&m));
		show("consistent", pthread_mutex_consistent(&m));
		show("unlock", pthread_mutex_unlock(&m));
		show("destroy", pthread_mutex_destroy(&m));
	}
}

static void what_is_not_mended_is_lost(void)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		struct timespec at = soon(CLOCK_REALTIME, 1000);

		make(&m, types[i], 1, 1);
		finish(start(lock_and_end, &m));
		show("timed", pthread_mutex_timedlock(&m, &at));
		if (types[i] == PTHREAD_MUTEX_RECURSIVE) {
			show("lock", pthread_mutex_lock(&m));
			show("unlock", pthread_mutex_unlock(&m));
		}
		show("unlock", pthread_mutex_unlock(&m));
		show("lock", pthread_mutex_lock(&m));
		show("trylock", pthread_mutex_trylock(&m));
		show("timed", pthread_mutex_timedlock(&m, &at));
		show("unlock", pthread_mutex_unlock(&m));
		show("consistent", pthread_mutex_consistent(&m));
		try_elsewhere(&m);
		show("destroy", pthread_mutex_destroy(&m));
	}
}

/* One without the protocol: libc tells of it each time that it is given back. */
static void a_recursive_one_is_lost_each_time(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&m, &attr);
	finish(start(lock_and_end, &m));
	show("dead", pthread_mutex_lock(&m));
	show("again", pthread_mutex_lock(&m));
	show("unlock", pthread_mutex_unlock(&m));
	show("unlock", pthread_mutex_unlock(&m));
	show("lock", pthread_mutex_lock(&m));
}

static void *lock_and_wait(void *unused)
{
	pthread_mutex_lock(&m);
	flag = 1;
	while (flag < 2)
		usleep(1000);
	usleep(5000);
	return unused;
}

static void *be_told(void *unused)
{
	flag = 2;
	show("lock", pthread_mutex_lock(&m));
	show("consistent", pthread_mutex_consistent(&m));
	show("unlock", pthread_mutex_unlock(&m));
	return unused;
}

static void a_waiter_is_told(void)
{
	pthread_t owner, waiter;

	make(&m, PTHREAD_MUTEX_DEFAULT, 1, 0);
	flag = 0;
	owner = start(lock_and_wait, NULL);
	while (!flag)
		usleep(1000);
	waiter = start(be_told, NULL);
	finish(owner);
	finish(waiter);
	try_elsewhere(&m);
}

static void *wait_then_end(void *unused)
{
	pthread_mutex_lock(&m);
	flag = 1;
	while (flag < 2)
		pthread_cond_wait(&cond, &m);
	return unused;
}

/* With several at once, one of which inherits nothing. */
static void an_owner_ends_with_several(void)
{
	pthread_t t;

	make(&m, PTHREAD_MUTEX_DEFAULT, 1, 0);
	flag = 0;
	t = start(wait_then_end, NULL);
	while (!flag)
		usleep(1000);
	show("lock", pthread_mutex_lock(&m));
	flag = 2;
	pthread_cond_signal(&cond);
	show("unlock", pthread_mutex_unlock(&m));
	finish(t);
	show("lock", pthread_mutex_lock(&m));
	show("consistent", pthread_mutex_consistent(&m));
	show("unlock", pthread_mutex_unlock(&m));
}

/* Locked by libc, given back by the thread that the first one has become. */
static void it_is_locked_before_the_first_thread(void)
{
	for (int k = 0; k < 4; k++) {
		pthread_t t = pthread_self();

		make(&m, PTHREAD_MUTEX_RECURSIVE, k & 1, k >> 1);
		show("lock", pthread_mutex_lock(&m));
		if (k == 0)
			finish(start(do_nothing, NULL));
		flag = 0;
		t = start(wait_long, NULL);
		while (!flag)
			usleep(1000);
		usleep(5000);
		try_elsewhere(&m);
		show("again", pthread_mutex_lock(&m));
		show("unlock", pthread_mutex_unlock(&m));
		pthread_mutex_unlock(&m);
		finish(t);
		show("not its", pthread_mutex_unlock(&m));
	}
}

static void it_is_locked_before(int k)
{
	pthread_t t;

	make(&m, PTHREAD_MUTEX_RECURSIVE, k & 1, k >> 1);
	make(&other, PTHREAD_MUTEX_DEFAULT, 1, 1);
	show("lock", pthread_mutex_lock(&m));
	show("lock", pthread_mutex_lock(&other));
	flag = 0;
	t = start(wait_long, NULL);
	while (!flag)
		usleep(1000);
	usleep(5000);
	try_elsewhere(&m);
	show("again", pthread_mutex_lock(&m));
	show("unlock", pthread_mutex_unlock(&m));
	pthread_mutex_unlock(&m);
	finish(t);
	show("not its", pthread_mutex_unlock(&m));
	show("unlock", pthread_mutex_unlock(&other));
	try_elsewhere(&other);
}

static void a_robust_one_is_locked_before_the_first_thread(void)
{
	it_is_locked_before(1);
}

static void a_shared_one_is_locked_before_the_first_thread(void)
{
	it_is_locked_before(2);
}

static const struct compare_case cases[] = {
	COMPARE(a_thread_locks_all_kinds),
	COMPARE(the_first_thread_locks_all_kinds),
	COMPARE(one_at_a_time),
	COMPARE(waits_end_in_time),
	COMPARE(condition_variables_give_it_back),
	COMPARE(a_handler_interrupts_a_wait),
	COMPARE(the_next_owner_is_told),
	COMPARE(what_is_not_mended_is_lost),
	COMPARE(a_recursive_one_is_lost_each_time),
	COMPARE(a_waiter_is_told),
	COMPARE(an_owner_ends_with_several),
	COMPARE(it_is_locked_before_the_first_thread),
	COMPARE(a_robust_one_is_locked_before_the_first_thread),
	COMPARE(a_shared_one_is_locked_before_the_first_thread),
};

COMPARE_MAIN(cases)
