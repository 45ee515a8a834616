/* SPDX-License-Identifier: MIT */
/*
 * test_once_bare.c - a once that is cancelled in code without unwind tables
 *
 * Compiled without them: libc's unwinder cannot go through these functions, and jumps
 * to the buffer that was registered last.
 */
#include "compare.h"

#include <semaphore.h>
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

static const struct compare_case cases[] = {
	COMPARE(a_once_is_open_again),
	COMPARE(so_are_two),
	COMPARE(one_that_waits_does_it),
};

COMPARE_MAIN(cases)
