/* SPDX-License-Identifier: MIT */
/* test_interrupt_once.c - a handler ends one call, and not the next one too */
#include "compare.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>

static _Atomic int handled, waits;

static void count(int signal)
{
	(void)signal;
	handled++;
}

/* Calls that block in the kernel, and that the kernel does not go on with. */

static long by_another_clock(void)
{
	const struct timespec some = { .tv_nsec = 60000000 };

	return clock_nanosleep(CLOCK_BOOTTIME, 0, &some, NULL);
}

static long by_nanosleep_itself(void)
{
	const struct timespec some = { .tv_nsec = 60000000 };

	return syscall(SYS_nanosleep, &some, NULL) != 0;
}

static long by_ppoll_itself(void)
{
	const struct timespec some = { .tv_nsec = 60000000 };

	return syscall(SYS_ppoll, NULL, 0, &some, NULL, 8) != 0;
}

static long (*const calls[])(void) = {
	by_another_clock, by_nanosleep_itself, by_ppoll_itself,
};

#define CALLS	(sizeof(calls) / sizeof(*calls))

static void *wait_and_call(void *arg)
{
	sigset_t none;

	sigemptyset(&none);
	for (size_t i = 0; i < CALLS; i++) {
		waits = 1;
		sigsuspend(&none);
		printf("%zu: %ld\n", i, calls[i]());
	}
	return arg;
}

static void a_handler_ends_one_call_only(void)
{
	struct sigaction action = { .sa_handler = count };
	sigset_t set;
	pthread_t t;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGUSR1, &action, NULL);
	t = start(wait_and_call, NULL);
	for (int i = 0; i < (int)CALLS; i++) {
		while (!waits)
			usleep(1000);
		waits = 0;
		pthread_kill(t, SIGUSR1);
		while (handled == i)
			usleep(1000);
	}
	finish(t);
	printf("handled %d\n", handled);
}

static const struct compare_case cases[] = {
	COMPARE(a_handler_ends_one_call_only),
};

COMPARE_MAIN(cases)
