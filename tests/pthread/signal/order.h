/* SPDX-License-Identifier: MIT */
/*
 * order.h - a signal that is sent before the end of a wait is handled first
 *
 * The first thread waits in one of many ways. Another sends it a signal, and then does
 * what ends the wait. The handler must have run when the call has returned.
 */
#ifndef WEFT_TESTS_ORDER_H
#define WEFT_TESTS_ORDER_H

#include "compare.h"
#include "order_way.h"
#include "tasks.h"

#include <stdint.h>

#define ROUNDS	20

static sem_t held, go_on, looked;
static int waits_asleep;	/* the first thread, in each way */

/*
 * A call that looks at memory only, just when the signal is sent, may return before the
 * kernel has interrupted its thread. One that waits by a system call may have begun or not.
 * A green thread that waits in the kernel is told as running: where there is no
 * futex_waitv(), and for a robust mutex.
 */
static void await_wait(void)
{
	if (!waits_asleep)
		usleep(2000);
	for (int i = 0; waits_asleep && i < 20 && !task_sleeps(getpid()); i++)
		usleep(1000);
}

/* By the other thread. */
static void send_in_wait(void)
{
	sem_post(&held);
	take(&go_on);
	await_wait();
	pthread_kill(first, SIGUSR1);
}

static void *end_waits(void *arg)
{
	const struct way *way = arg;

	for (int i = 0; i < scaled(ROUNDS); i++) {
		if (way->hold)
			way->hold();
		if (way->end) {
			send_in_wait();
			way->end();
		}
		take(&looked);
	}
	return NULL;
}

static void go_through(const struct way *way)
{
	pthread_t t = start(end_waits, (void *)(uintptr_t)way);
	int late = 0;

	for (int i = 0; i < scaled(ROUNDS); i++) {
		take(&held);
		sem_post(&go_on);
		way->wait();
		late += !handled;
		while (!handled)
			;
		handled = 0;
		sem_post(&looked);
	}
	finish(t);
	printf("%s: late %d\n", way->name, late);
}

static void go_through_all(const struct way *ways, size_t n)
{
	first_is_this_thread();
	for (size_t i = 0; i < n; i++)
		go_through(&ways[i]);
}

#endif
