/* SPDX-License-Identifier: MIT */
/*
 * test_order_wake.c - a signal that comes while its thread wakes another
 *
 * The first thread wakes another one, which sends it a signal at once and then posts a
 * semaphore. Behind its next call, which takes the semaphore without a wait, the handler
 * must have run.
 */
#include "compare.h"

#include "order_locks.h"

#define ROUNDS	1000

static sem_t answered;
static _Atomic int waits;	/* the other thread is about to */
static int ends[2];

static void tell(void)
{
	set_told();
	pthread_cond_signal(&cond);
}

static void tell_shared(void)
{
	set_told();
	pthread_cond_signal(&shared_cond);
}

/* --- pthread_once(): the other thread finds it being done --- */

static pthread_once_t once;
static _Atomic int is_being_done;

static void nothing(void)
{
}

static void wait_done(void)
{
	while (!is_being_done)
		sched_yield();
	is_being_done = 0;
	pthread_once(&once, nothing);
}

static void let_wait(void)
{
	is_being_done = 1;
	usleep(100);
}

static void do_it_once(void)
{
	once = PTHREAD_ONCE_INIT;
	pthread_once(&once, let_wait);
}

/* --- a pipe --- */

static void read_pipe(void)
{
	char c;

	while (read(ends[0], &c, 1) != 1)
		;
}

static void write_pipe(void)
{
	if (write(ends[1], "x", 1) != 1)
		abort();
}

/* ------------------------------------------------------------------- */

static const struct way ways[] = {
	{ "sem_post", NULL, wait_post, post },
	{ "pthread_mutex_unlock", lock, lock_and_unlock, unlock },
	{ "... of a robust one", lock_robust, wait_robust, unlock_robust },
	{ "... of one of processes", lock_shared, wait_shared, unlock_shared },
	{ "... of one that inherits priorities", lock_inheriting, wait_inheriting,
	  unlock_inheriting },
	{ "pthread_rwlock_unlock by a writer", lock_to_write, wait_to_read, rw_unlock },
	{ "... by a reader", lock_to_read, wait_to_write, rw_unlock },
	{ "pthread_cond_signal", NULL, wait_told, tell },
	{ "pthread_cond_broadcast", NULL, wait_told, tell_all },
	{ "... of one of processes", NULL, wait_told_shared, tell_shared },
	{ "FUTEX_WAKE", NULL, wait_word, set_word },
	{ "pthread_barrier_wait", NULL, meet, meet },
	{ "pthread_once", NULL, wait_done, do_it_once },
	{ "write", NULL, read_pipe, write_pipe },
	/* The last one: libc's threads have a real-time priority afterwards. */
	{ "pthread_mutex_unlock of one with a ceiling", lock_ceiling, wait_ceiling,
	  unlock_ceiling },
};

static void *answer(void *arg)
{
	const struct way *way = arg;

	for (int i = 0; i < scaled(ROUNDS); i++) {
		while (waits)
			sched_yield();
		waits = 1;
		way->wait();
		pthread_kill(first, SIGUSR1);
		sem_post(&answered);
	}
	return NULL;
}

static int is_late(const struct way *way)
{
	int late;

	if (way->hold)
		way->hold();
	waits = 0;
	while (!waits)
		sched_yield();
	usleep(60);		/* it waits by now */
	way->end();
	take(&answered);
	late = !handled;
	while (!handled)
		;
	handled = 0;
	return late;
}

/*
 * The kernel, too, may need a moment until it has interrupted a thread on another CPU. So
 * one in four hundred is none. Where a call did not look for signals at its end, one in a
 * hundred was late.
 */
static void go_through(const struct way *way)
{
	const int rounds = scaled(ROUNDS);
	pthread_t t;
	int late = 0;

	waits = 1;
	t = start(answer, (void *)(uintptr_t)way);
	for (int i = 0; i < rounds; i++)
		late += is_late(way);
	finish(t);
	printf("%s: %s\n", way->name, late * 400 > rounds ? "late" : "in time");
}

static void a_signal_to_a_thread_that_wakes_another_is_handled_at_once(void)
{
	first_is_this_thread();
	init_objects();
	if (pipe(ends) != 0)
		abort();
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		go_through(&ways[i]);
}

static const struct compare_case cases[] = {
	COMPARE(a_signal_to_a_thread_that_wakes_another_is_handled_at_once),
};

COMPARE_MAIN(cases)
