/* SPDX-License-Identifier: MIT */
/*
 * real_time.h - threads with real-time policies, on one CPU and one VCPU
 *
 * A thread with such a policy looks whether an ordinary thread, which only
 * yields, goes on meanwhile. Where the kernel refuses the policy nothing can be
 * compared, and each case says so. That other threads wait is not compared, but
 * expected: the kernel lets them run for some time of each second. All
 * real-time threads of the machine count in that, also those of other tests.
 */
#ifndef WEFT_TESTS_REAL_TIME_H
#define WEFT_TESTS_REAL_TIME_H

#include <sched.h>
#include <semaphore.h>
#include <stdint.h>

#include "compare.h"

#define LOW		10
#define MIDDLE		20
#define HIGH		30
#define YIELDS		1000

static _Atomic long others;	/* yields of the ordinary thread */
static _Atomic int stop;
static _Atomic int has_run;

/* By the kernel, in both: there are no threads yet. */
static inline int is_allowed(void)
{
	struct sched_param param = { .sched_priority = HIGH };

	if (sched_setscheduler(0, SCHED_FIFO, &param) != 0)
		return 0;
	param.sched_priority = 0;
	if (sched_setscheduler(0, SCHED_OTHER, &param) != 0)
		abort();
	return 1;
}

static inline void be_on_one_cpu(void)
{
	cpu_set_t have, one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(have), &have) != 0)
		abort();
	while (!CPU_ISSET(cpu, &have))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0)
		abort();
	setenv("WEFT_VCPUS", "1", 1);
}

/* Returns 0 where the case can say nothing, and prints that. */
static inline int begin(void)
{
	if (!is_allowed()) {
		printf("left out: real-time policies are refused here\n");
		return 0;
	}
	be_on_one_cpu();
	return 1;
}

/* For cases that run with weft alone: prints what was expected. */
static inline int begin_alone(const char *expected)
{
	if (!is_allowed()) {
		fputs(expected, stdout);
		return 0;
	}
	be_on_one_cpu();
	return 1;
}

static inline pthread_t start_as(int policy, int priority, void *(*fn)(void *arg),
			  void *arg)
{
	struct sched_param param = { .sched_priority = priority };
	pthread_attr_t attr;
	pthread_t thread;
	int error;

	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, policy);
	pthread_attr_setschedparam(&attr, &param);
	error = pthread_create(&thread, &attr, fn, arg);
	if (error) {
		show("pthread_create", error);
		abort();
	}
	pthread_attr_destroy(&attr);
	return thread;
}

static inline void *be_ordinary(void *arg)
{
	while (!stop) {
		others++;
		sched_yield();
	}
	return arg;
}

static inline pthread_t start_ordinary(void)
{
	return start_as(SCHED_OTHER, 0, be_ordinary, NULL);
}

static inline void end_ordinary(pthread_t t)
{
	stop = 1;
	finish(t);
	stop = 0;
}

static inline int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* For several slices, of which one is 10 ms. */
static inline void compute(void)
{
	const int64_t end = cpu_ns() + 40 * 1000000;

	while (cpu_ns() < end)
		for (volatile int i = 0; i < 10000; i++)
			;
}

static inline void yield_often(void)
{
	for (int i = 0; i < YIELDS; i++)
		sched_yield();
}

#define KEEPS(what)	what ": yields: others wait, computes: others wait\n"

/*
 * A thread that has kept its VCPU for most of a second gives way, if it has used a tenth
 * of a second of the CPU. A machine that is emulated, and stands still itself, counts that
 * as time of the CPU. Then it is done again, in a stint of its own.
 */
static inline const char *others_do(void (*meanwhile)(void))
{
	static const char *const answers[] = { "others wait", "others ran" };
	int64_t begin = 0;

	for (;;) {
		const long before = others;

		meanwhile();
		if (others == before || cpu_ns() - begin < 80 * 1000000)
			return answers[others != before];
		usleep(100000);
		begin = cpu_ns();
	}
}

static inline void tell(const char *what)
{
	printf("%s: yields: %s, ", what, others_do(yield_often));
	printf("computes: %s\n", others_do(compute));
}

static inline void *tell_as(void *what)
{
	tell(what);
	return NULL;
}

static sem_t never;

static inline void *wait_here(void *arg)
{
	while (sem_wait(&never) != 0)
		;
	return arg;
}

static inline void cancel(pthread_t t)
{
	pthread_cancel(t);
	if (finish(t) != PTHREAD_CANCELED)
		printf("not cancelled\n");
}

#endif
