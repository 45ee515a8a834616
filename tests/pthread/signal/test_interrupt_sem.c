/* SPDX-License-Identifier: MIT */
/* test_interrupt_sem.c - which waits for a semaphore a handler ends, and which go on */
#include "compare.h"

#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

#define ENOUGH	20	/* handlers, for one of them to run in the wait */

static sem_t begun, *sem;
static _Atomic int handled, over, stop;

static void count(int signal)
{
	(void)signal;
	handled++;
}

static void handle(int flags)
{
	struct sigaction action = { .sa_handler = count, .sa_flags = flags };

	sigaction(SIGUSR1, &action, NULL);
}

static int without_time(long ms)
{
	(void)ms;
	return sem_wait(sem);
}

static int by_the_day(long ms)
{
	struct timespec at = soon(CLOCK_REALTIME, ms);

	return sem_timedwait(sem, &at);
}

static int by_a_clock(long ms)
{
	struct timespec at = soon(CLOCK_MONOTONIC, ms);

	return sem_clockwait(sem, CLOCK_MONOTONIC, &at);
}

static const struct way {
	const char *name;
	int (*wait)(long ms);
} ways[] = {
	{ "sem_wait", without_time },
	{ "sem_timedwait", by_the_day },
	{ "sem_clockwait", by_a_clock },
};

static void *wait_so(void *way)
{
	sem_post(&begun);
	show_errno("it", ((const struct way *)way)->wait(1000000));
	over = 1;
	return NULL;
}

static void interrupt(const struct way *way, int flags)
{
	pthread_t t;

	handled = over = 0;
	handle(flags);
	printf("%s: ", way->name);
	t = start(wait_so, (void *)(uintptr_t)way);
	while (sem_wait(&begun) != 0)
		;
	while (!over && handled < ENOUGH) {
		usleep(3000);
		if (!over)
			pthread_kill(t, SIGUSR1);
	}
	if (!over) {
		printf("goes on; ");
		sem_post(sem);
	}
	finish(t);
}

static void interrupt_all(int is_shared, int flags)
{
	sem = mmap(NULL, sizeof(*sem), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sem == MAP_FAILED || sem_init(sem, is_shared, 0) != 0 ||
	    sem_init(&begun, 0, 0) != 0)
		abort();
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		interrupt(&ways[i], flags);
}

static void a_handler_ends_all(void)
{
	interrupt_all(0, 0);
}

static void one_that_restarts_ends_those_with_a_time(void)
{
	interrupt_all(0, SA_RESTART);
}

static void a_handler_ends_those_for_a_shared_one(void)
{
	interrupt_all(1, 0);
}

static void one_that_restarts_ends_those_for_a_shared_one_with_a_time(void)
{
	interrupt_all(1, SA_RESTART);
}

/* --- what nobody has asked for ends none --------------------------- */

static void *compute(void *arg)
{
	while (!stop)
		;
	return arg;
}

static void *wait_in_vain(void *way)
{
	long others = 0;

	/* Longer than the runtime lets a thread wait in the kernel at once. */
	for (long ms = 5; ms < 700; ms *= 5)
		others += ((const struct way *)way)->wait(ms) == 0 ||
			  errno != ETIMEDOUT;
	return (void *)others;
}

static void *wait_for_good(void *arg)
{
	(void)arg;
	return (void *)(long)sem_wait(sem);
}

/* Handlers of other threads run meanwhile. */
static void others_end_none(int is_shared)
{
	pthread_t computing[3], waiting[2], last;

	handle(0);
	sem = mmap(NULL, sizeof(*sem), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sem == MAP_FAILED || sem_init(sem, is_shared, 0) != 0)
		abort();
	for (int i = 0; i < 3; i++)
		computing[i] = start(compute, NULL);
	for (int i = 0; i < 2; i++)
		waiting[i] = start(wait_in_vain, (void *)(uintptr_t)&ways[i + 1]);
	for (int i = 0; i < 50; i++) {
		pthread_kill(computing[i % 3], SIGUSR1);
		usleep(1000);
	}
	for (int i = 0; i < 2; i++)
		printf("%s: %ld\n", ways[i + 1].name, (long)finish(waiting[i]));
	last = start(wait_for_good, NULL);
	for (int i = 0; i < 50; i++) {
		pthread_kill(computing[i % 3], SIGUSR1);
		usleep(1000);
	}
	sem_post(sem);
	printf("sem_wait: %ld\n", (long)finish(last));
	stop = 1;
	for (int i = 0; i < 3; i++)
		finish(computing[i]);
}

static void handlers_of_others_end_none(void)
{
	others_end_none(0);
}

static void handlers_of_others_end_none_for_a_shared_one(void)
{
	others_end_none(1);
}

static const struct compare_case cases[] = {
	COMPARE(a_handler_ends_all),
	COMPARE(one_that_restarts_ends_those_with_a_time),
	COMPARE(a_handler_ends_those_for_a_shared_one),
	COMPARE(one_that_restarts_ends_those_for_a_shared_one_with_a_time),
	COMPARE(handlers_of_others_end_none),
	COMPARE(handlers_of_others_end_none_for_a_shared_one),
};

COMPARE_MAIN(cases)
