/* SPDX-License-Identifier: MIT */
/*
 * test_last.c - what exit() calls when main has left and the last thread ends
 *
 * It runs in a thread that can be signalled, with the mask of the last thread.
 */
#include "compare.h"

#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>

static void tell(const char *what)
{
	if (write(STDOUT_FILENO, what, strlen(what)) < 0)
		abort();
}

static volatile int handled;

static void count(int signal)
{
	(void)signal;
	handled++;
}

static void *wait_for_main(void *main_thread)
{
	pthread_join(*(pthread_t *)main_thread, NULL);
	return NULL;
}

static void *block_and_wait(void *main_thread)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return wait_for_main(main_thread);
}

static void leave_to(void *(*fn)(void *arg), void (*at_exit)(void))
{
	static pthread_t self;

	self = pthread_self();
	atexit(at_exit);
	start(fn, &self);
	pthread_exit(NULL);
}

static void kill_process(void)
{
	kill(getpid(), SIGUSR1);
	tell("goes on\n");
}

static void a_signal_ends_it(void)
{
	leave_to(wait_for_main, kill_process);
}

static void raise_it(void)
{
	raise(SIGTERM);
	tell("goes on\n");
}

static void so_does_a_raised_one(void)
{
	leave_to(wait_for_main, raise_it);
}

static void handle_all(void)
{
	const struct sigaction action = { .sa_handler = count };

	sigaction(SIGUSR1, &action, NULL);
	kill(getpid(), SIGUSR1);
	tell(handled == 1 ? "by kill()\n" : "not by kill()\n");
	raise(SIGUSR1);
	tell(handled == 2 ? "by raise()\n" : "not by raise()\n");
	pthread_kill(pthread_self(), SIGUSR1);
	tell(handled == 3 ? "by pthread_kill()\n" : "not by it\n");
	sigqueue(getpid(), SIGUSR1, (union sigval){ 0 });
	tell(handled == 4 ? "by sigqueue()\n" : "not by sigqueue()\n");
}

static void handlers_run(void)
{
	leave_to(wait_for_main, handle_all);
}

static void wait_for_time(void)
{
	const struct itimerval soon_once = { .it_value = { 0, 5000 } };
	const struct sigaction action = { .sa_handler = count };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon_once, NULL);
	while (!handled)
		usleep(1000);
	tell("it has come\n");
}

static void so_does_a_timers(void)
{
	leave_to(wait_for_main, wait_for_time);
}

static void show_mask(void)
{
	sigset_t set;

	pthread_sigmask(SIG_BLOCK, NULL, &set);
	tell(sigismember(&set, SIGUSR2) ? "blocked\n" : "let in\n");
	tell(sigismember(&set, SIGUSR1) ? "blocked\n" : "let in\n");
}

static void the_mask_is_the_last_threads(void)
{
	leave_to(block_and_wait, show_mask);
}

static void take_one(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	kill(getpid(), SIGUSR2);
	tell(sigwaitinfo(&set, NULL) == SIGUSR2 ? "taken\n" : "none\n");
}

static void one_may_be_waited_for(void)
{
	leave_to(block_and_wait, take_one);
}

static const struct compare_case cases[] = {
	ENDS_BY(SIGUSR1, a_signal_ends_it),
	ENDS_BY(SIGTERM, so_does_a_raised_one),
	COMPARE(handlers_run),
	COMPARE(so_does_a_timers),
	COMPARE(the_mask_is_the_last_threads),
	COMPARE(one_may_be_waited_for),
};

COMPARE_MAIN(cases)
