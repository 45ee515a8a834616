/* SPDX-License-Identifier: MIT */
/* test_shared.c - mutexes and condition variables that processes share */
#include "shared.h"

#include <signal.h>

/* With the mutex: until so many wait. */
static void until_waiting(int count)
{
	while (c->waiting < count)
		pthread_cond_wait(&c->left, &c->m);
}

/* One ticket lets one go on. */
static void *take_ticket(void *unused)
{
	(void)unused;
	lock();
	c->waiting++;
	pthread_cond_broadcast(&c->left);
	while (c->tickets == 0)
		pthread_cond_wait(&c->changed, &c->m);
	c->tickets--;
	c->served++;
	pthread_cond_broadcast(&c->left);
	unlock();
	return NULL;
}

static void hand_out(int count, int one_by_one)
{
	lock();
	until_waiting(count);
	if (!one_by_one) {
		c->tickets += count;
		pthread_cond_broadcast(&c->changed);
	}
	for (int i = 0; one_by_one && i < count; i++) {
		c->tickets++;
		pthread_cond_signal(&c->changed);
		if (one_by_one > 1)
			continue;
		while (c->served <= i)
			pthread_cond_wait(&c->left, &c->m);
	}
	while (c->served < count)
		pthread_cond_wait(&c->left, &c->m);
	unlock();
}

/* --- one process --------------------------------------------------- */

#define MANY	1000

static void many_wait(int robust, int one_by_one)
{
	static pthread_t t[MANY];
	int count = (int)scaled(MANY / 4);

	if (count > MANY)
		count = MANY;
	make_common(robust, CLOCK_REALTIME);
	start_all(t, count, take_ticket);
	hand_out(count, one_by_one);
	finish_all(t, count);
	printf("all: %d, tickets %d\n", c->served == count, c->tickets);
	show("destroy", pthread_cond_destroy(&c->changed));
	show("destroy", pthread_mutex_destroy(&c->m));
}

static void many_are_woken_by_a_broadcast(void)
{
	many_wait(0, 0);
	many_wait(1, 0);
}

static void many_are_woken_one_by_one(void)
{
	many_wait(0, 1);
	many_wait(1, 2);
}

static void *wait_without_end(void *unused)
{
	(void)unused;
	lock();
	c->waiting++;
	pthread_cond_signal(&c->left);
	pthread_cleanup_push(unlock_it, NULL);
	for (;;)
		pthread_cond_wait(&c->changed, &c->m);
	pthread_cleanup_pop(0);
	return NULL;
}

static void a_time_is_of_either_clock(void)
{
	for (int i = 0; i < 2; i++) {
		clockid_t clock = i ? CLOCK_MONOTONIC : CLOCK_REALTIME;
		struct timespec at = soon(clock, 20), bad = { 0, -1 };
		struct timespec other = soon(CLOCK_MONOTONIC, 20);
		int error = 0;

		make_common(i, clock);
		finish(start(take_ticket, (c->tickets = 1, NULL)));
		lock();
		while (error == 0)
			error = pthread_cond_timedwait(&c->changed, &c->m, &at);
		show("timed", error);
		error = 0;
		while (error == 0)
			error = pthread_cond_clockwait(&c->changed, &c->m,
						       CLOCK_MONOTONIC, &other);
		show("clock", error);
		show("bad", pthread_cond_timedwait(&c->changed, &c->m, &bad));
		unlock();
		show("mutex", pthread_mutex_timedlock(&c->m, &at));
		show("destroy", pthread_cond_destroy(&c->changed));
	}
}

/* --- several processes --------------------------------------------- */

#define EACH	MOST_THREADS
#define CHILDREN	3

static void wake_children(int robust, int one_by_one, int here)
{
	pid_t child[CHILDREN];
	pthread_t t[EACH];

	make_common(robust, CLOCK_REALTIME);
	for (int i = 0; i < CHILDREN; i++)
		child[i] = child_with(take_ticket, EACH);
	start_all(t, here, take_ticket);
	hand_out(CHILDREN * EACH + here, one_by_one);
	finish_all(t, here);
	for (int i = 0; i < CHILDREN; i++)
		reap(child[i]);
	printf("served %d, tickets %d\n", c->served, c->tickets);
}

static void other_processes_are_woken(void)
{
	fflush(stdout);
	wake_children(0, 0, 0);
	wake_children(0, 1, EACH);
	wake_children(1, 2, EACH);
	wake_children(1, 0, EACH);
}

/* As the rest of above, of a process that has had no threads: under QEMU too. */
static void a_waiter_from_before_the_threads_is_woken(void)
{
	fflush(stdout);
	wake_children(1, 2, EACH);
}

/* The child hands out; the parent's threads wait. */
static void *hand_out_there(void *unused)
{
	hand_out(EACH, 1);
	return unused;
}

static void another_process_wakes(void)
{
	pthread_t t[EACH];
	pid_t child;

	for (int robust = 0; robust < 2; robust++) {
		make_common(robust, CLOCK_REALTIME);
		fflush(stdout);
		child = child_with(hand_out_there, 1);
		start_all(t, EACH, take_ticket);
		finish_all(t, EACH);
		reap(child);
		printf("served %d, tickets %d\n", c->served, c->tickets);
	}
}

static void *count(void *unused)
{
	for (int i = 0; i < 300; i++) {
		lock();
		c->counter++;
		if (i % 16 == 0)
			sched_yield();
		unlock();
		pthread_mutex_lock(&c->plain);
		c->state++;
		if (i % 16 == 8)
			sched_yield();
		pthread_mutex_unlock(&c->plain);
	}
	return unused;
}

static void processes_take_turns_with_a_mutex(void)
{
	pid_t child[CHILDREN];
	pthread_t t[EACH];

	make_common(1, CLOCK_REALTIME);
	fflush(stdout);
	for (int i = 0; i < CHILDREN; i++)
		child[i] = child_with(count, 4);
	start_all(t, 4, count);
	finish_all(t, 4);
	for (int i = 0; i < CHILDREN; i++)
		reap(child[i]);
	printf("%ld %d\n", c->counter, c->state);
}

static void a_killed_process_takes_no_signal_with_it(void)
{
	pid_t killed, child;
	pthread_t t[EACH];

	for (int robust = 0; robust < 2; robust++) {
		make_common(robust, CLOCK_REALTIME);
		fflush(stdout);
		killed = child_with(wait_without_end, EACH);
		child = child_with(take_ticket, EACH);
		lock();
		until_waiting(2 * EACH);
		kill(killed, SIGKILL);
		reap(killed);
		c->waiting -= EACH;
		unlock();
		start_all(t, EACH, take_ticket);
		hand_out(2 * EACH, 2);
		finish_all(t, EACH);
		reap(child);
		printf("served %d, tickets %d\n", c->served, c->tickets);
	}
}
static const struct compare_case cases[] = {
	COMPARE(many_are_woken_by_a_broadcast),
	COMPARE(many_are_woken_one_by_one),
	COMPARE(a_time_is_of_either_clock),
	COMPARE(other_processes_are_woken),
	COMPARE(a_waiter_from_before_the_threads_is_woken),
	COMPARE(another_process_wakes),
	COMPARE(processes_take_turns_with_a_mutex),
	/* libc's waits for the killed processes. */
	WEFT_ONLY(a_killed_process_takes_no_signal_with_it,
		  "signal 9\nstatus 0\nserved 40, tickets 0\n"
		  "signal 9\nstatus 0\nserved 40, tickets 0\n"),
};

COMPARE_MAIN(cases)
