/* SPDX-License-Identifier: MIT */
/*
 * test_once_bare.c - a cancellation in code without unwind tables, below a call of ours
 *
 * Compiled without them: libc's unwinder cannot go through these functions, and jumps
 * to the buffer that was registered last.
 */
#include "compare.h"

#include <semaphore.h>
#include <signal.h>
#include <threads.h>

static pthread_once_t once = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;
static sem_t begun;
static int n;

static void count_and_wait(void)
{
	n++;
	sem_post(&begun);
	for (;;)
		pause();
}

static void count_ten(void)
{
	n += 10;
}

static void *do_once(void *arg)
{
	pthread_once(&once, count_and_wait);
	return arg;
}

static void *do_by_flag(void *arg)
{
	call_once(&flag, count_and_wait);
	return arg;
}

static void do_inner(void)
{
	pthread_once(&inner, count_and_wait);
}

static void *do_one_in_another(void *arg)
{
	pthread_once(&once, do_inner);
	return arg;
}

static void cancel_in(void *(*fn)(void *arg))
{
	pthread_t t;

	n = 0;
	sem_init(&begun, 0, 0);
	t = start(fn, NULL);
	while (sem_wait(&begun) != 0)
		;
	pthread_cancel(t);
	printf("cancelled %d, ", finish(t) == PTHREAD_CANCELED);
}

static void a_once_is_open_again(void)
{
	cancel_in(do_once);
	pthread_once(&once, count_ten);
	pthread_once(&once, count_ten);
	printf("%d\n", n);
	cancel_in(do_by_flag);
	call_once(&flag, count_ten);
	call_once(&flag, count_ten);
	printf("%d\n", n);
}

static void so_are_two(void)
{
	cancel_in(do_one_in_another);
	pthread_once(&inner, count_ten);
	pthread_once(&once, count_ten);
	printf("%d\n", n);
}

static void *wait_for_it(void *arg)
{
	pthread_once(&once, count_ten);
	return arg;
}

static void one_that_waits_does_it(void)
{
	pthread_t t, waits;

	sem_init(&begun, 0, 0);
	t = start(do_once, NULL);
	while (sem_wait(&begun) != 0)
		;
	waits = start(wait_for_it, NULL);
	usleep(5000);
	pthread_cancel(t);
	finish(t);
	finish(waits);
	printf("%d\n", n);
}

/* --- in a handler on top of a wait --------------------------------- */

static sem_t handles;
static pthread_mutex_t mutex;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_t joined;
static _Atomic int over;

static void wait_here(int signal)
{
	(void)signal;
	sem_post(&handles);
	pause();
}

static void unlock(void *arg)
{
	(void)arg;
	show("unlock", pthread_mutex_unlock(&mutex));
}

static void *wait_for_cond(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, NULL);
	sem_post(&begun);
	pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(0);
	return arg;
}

static void *sleep_until_over(void *arg)
{
	while (!over)
		usleep(1000);
	return arg;
}

static void *join_it(void *arg)
{
	sem_post(&begun);
	pthread_join(joined, NULL);
	return arg;
}

static void cancel_in_handler(void *(*fn)(void *arg))
{
	const struct sigaction action = { .sa_handler = wait_here };
	pthread_t t;

	sigaction(SIGUSR1, &action, NULL);
	sem_init(&begun, 0, 0);
	sem_init(&handles, 0, 0);
	t = start(fn, NULL);
	sem_wait(&begun);
	usleep(10000);
	pthread_kill(t, SIGUSR1);
	sem_wait(&handles);
	usleep(2000);
	pthread_cancel(t);
	printf("cancelled %d\n", finish(t) == PTHREAD_CANCELED);
}

static void a_condition_gives_its_waiter_the_mutex(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&mutex, &attr);
	cancel_in_handler(wait_for_cond);
	show("it is free", pthread_mutex_trylock(&mutex));
}

static void a_joined_thread_can_be_joined_by_others(void)
{
	joined = start(sleep_until_over, &joined);
	cancel_in_handler(join_it);
	over = 1;
	printf("joined: %d\n", finish(joined) == &joined);
}

static const struct compare_case cases[] = {
	COMPARE(a_once_is_open_again),
	COMPARE(so_are_two),
	COMPARE(one_that_waits_does_it),
	COMPARE(a_condition_gives_its_waiter_the_mutex),
	COMPARE(a_joined_thread_can_be_joined_by_others),
};

COMPARE_MAIN(cases)
