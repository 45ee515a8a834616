/* SPDX-License-Identifier: MIT */
/* futex_handlers.c - cases of test_futex.c: handlers run while a thread waits */
#include "futex_handlers.h"

#include <signal.h>
#include <stdatomic.h>

#include "compare.h"
#include "futex_call.h"

int futex_flag = FUTEX_PRIVATE_FLAG;

#define MANY_WAKES	1000
#define HANDLERS	20

static _Atomic unsigned word;
static _Atomic int over, handled;

static void on_signal(int signal)
{
	(void)signal;
	handled++;
}

static void handle(int flags)
{
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = flags };

	sigaction(SIGUSR1, &action, NULL);
	word = 5;
	over = 0;
	handled = 0;
}

static void *wait_once(void *time)
{
	show_errno("wait", futex(&word, FUTEX_WAIT, 5, time, NULL, 0));
	over = 1;
	return time;
}

static void signal_until_over(pthread_t t)
{
	while (!over) {
		pthread_kill(t, SIGUSR1);	/* it may not wait yet */
		usleep(1000);
	}
	finish(t);
}

void a_handler_ends_the_wait(void)
{
	handle(0);
	signal_until_over(start(wait_once, NULL));
}

void any_handler_ends_a_wait_in_time(void)
{
	static struct timespec long_time = { .tv_sec = 100 };

	handle(SA_RESTART);
	signal_until_over(start(wait_once, &long_time));
}

/* The word changes, and the next handler has it look; nobody wakes it. */
void others_go_on_after_some_handlers(void)
{
	pthread_t t;

	handle(SA_RESTART);
	t = start(wait_once, NULL);
	while (handled < HANDLERS) {
		pthread_kill(t, SIGUSR1);
		usleep(1000);
	}
	printf("over: %d\n", over);
	word = 6;
	signal_until_over(t);
}

/* A wake of nobody costs nothing, at length: it may be looked at no more. */
void also_after_many_wakes_of_nobody(void)
{
	static _Atomic unsigned nobodys;

	handle(0);
	finish(start(wait_once, &(struct timespec){ .tv_nsec = 1000 }));
	over = 0;
	for (int i = 0; i < MANY_WAKES; i++)
		futex(&nobodys, FUTEX_WAKE, 1, NULL, NULL, 0);
	signal_until_over(start(wait_once, NULL));
}
