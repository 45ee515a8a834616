/* SPDX-License-Identifier: MIT */
/* test_once.c - once: while it is done, and in the child of a fork */
#include "compare.h"

#include <sched.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <threads.h>

#define THREADS	8

static pthread_once_t once = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;
static _Atomic int runs, begun, go_on;

static void be_slow(void)
{
	runs++;
	begun = 1;
	while (!go_on)
		usleep(1000);
}

static void *do_once(void *by_flag)
{
	if (by_flag)
		call_once(&flag, be_slow);
	else
		pthread_once(&once, be_slow);
	return (void *)(long)runs;
}

static void all_wait_until_it_is_done(void *by_flag)
{
	pthread_t t[THREADS];
	long sum = 0;

	runs = begun = go_on = 0;
	for (int i = 0; i < THREADS; i++)
		t[i] = start(do_once, by_flag);
	while (!begun)
		sched_yield();
	usleep(10000);
	go_on = 1;
	for (int i = 0; i < THREADS; i++)
		sum += (long)finish(t[i]);
	printf("%d, %ld\n", runs, sum);
}

static void once_is_once(void)
{
	all_wait_until_it_is_done(NULL);
	all_wait_until_it_is_done(&flag);
}

/*
 * Another thread is at it, and is none of the child's: there it is done anew. The
 * parent's goes on.
 */
static void fork_while(void *by_flag)
{
	pthread_t t;
	int status = 0;
	pid_t child;

	runs = begun = go_on = 0;
	t = start(do_once, by_flag);
	while (!begun)
		sched_yield();
	child = fork();
	if (child == 0) {
		go_on = 1;
		do_once(by_flag);
		do_once(by_flag);
		_exit(runs);
	}
	waitpid(child, &status, 0);
	go_on = 1;
	printf("%d, ", WEXITSTATUS(status));
	printf("%ld, ", (long)finish(t));
	printf("%ld\n", (long)do_once(by_flag));
}

static void a_child_does_again_what_a_thread_was_at(void)
{
	fork_while(NULL);
	fork_while(&flag);
}

/* The thread that is at it forks: the child goes on, and has done it. */
static int status_of_child;

static void fork_within(void)
{
	pid_t child = fork();

	runs++;
	if (child > 0)
		waitpid(child, &status_of_child, 0);
	else
		status_of_child = -1;
}

static void *do_with_fork(void *arg)
{
	pthread_once(&once, fork_within);
	if (status_of_child == -1)
		_exit(runs);
	return arg;
}

static void its_runner_may_fork(void)
{
	finish(start(do_with_fork, NULL));
	printf("%d, %d\n", runs, WEXITSTATUS(status_of_child));
}

static const struct compare_case cases[] = {
	COMPARE(once_is_once),
	COMPARE(a_child_does_again_what_a_thread_was_at),
	COMPARE(its_runner_may_fork),
};

COMPARE_MAIN(cases)
