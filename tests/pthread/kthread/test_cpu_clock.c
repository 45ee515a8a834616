/* SPDX-License-Identifier: MIT */
/*
 * test_cpu_clock.c - a thread's CPU time is its own, whatever carries it
 *
 * What all threads have used is never more than the process has: that is what a
 * clock of some kernel thread that carried several would show.
 */
#include "compare.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MS	1000000L
#define THREADS	8
#define SECOND	1000000000L

static long read_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t) != 0)
		return -errno;
	return t.tv_sec * SECOND + t.tv_nsec;
}

static long own_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void compute(long ns)
{
	long end = own_ns() + ns;

	while (own_ns() < end)
		;
}

static clockid_t clock_of(pthread_t thread)
{
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) != 0)
		abort();
	return clock;
}

/* --- one after the other ------------------------------------------- */

static void *compute_and_tell(void *arg)
{
	long *used = arg;

	compute(5 * MS);
	*used = own_ns();
	return NULL;
}

static void what_threads_use_is_in_the_process(void)
{
	long used[THREADS], sum, before = own_ns();

	compute(20 * MS);
	for (int i = 0; i < THREADS; i++)
		finish(start(compute_and_tell, &used[i]));
	sum = own_ns();
	printf("%d\n", sum >= before + 20 * MS);
	for (int i = 0; i < THREADS; i++) {
		printf("%d\n", used[i] >= 5 * MS);
		sum += used[i];
	}
	printf("%d\n", sum <= read_ns(CLOCK_PROCESS_CPUTIME_ID));
}

/* Before the first thread, and after it, the first thread's is one clock. */
static void the_first_threads_goes_on(void)
{
	long used, before;

	compute(20 * MS);
	before = own_ns();
	finish(start(compute_and_tell, &used));
	printf("%d\n", own_ns() >= before);
	printf("%d\n", read_ns(clock_of(pthread_self())) >= before);
}

/* --- at once, from kernel thread to kernel thread ------------------ */

static pthread_barrier_t all_here;

static void *yield_and_read(void *arg)
{
	long *used = arg, now;

	pthread_barrier_wait(&all_here);
	for (long i = 0; i < scaled(1000); i++) {
		sched_yield();
		now = own_ns();
		if (now < *used)
			abort();
		*used = now;
	}
	return NULL;
}

static void it_never_goes_back(void)
{
	pthread_t t[THREADS];
	long used[THREADS] = { 0 }, sum = 0;

	pthread_barrier_init(&all_here, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		t[i] = start(yield_and_read, &used[i]);
	for (int i = 0; i < THREADS; i++) {
		finish(t[i]);
		sum += used[i];
	}
	printf("%d\n", sum > 0);
	sum += own_ns();
	printf("%d\n", sum <= read_ns(CLOCK_PROCESS_CPUTIME_ID));
}

/* --- of others ----------------------------------------------------- */

static volatile int stop;

static void *spin(void *arg)
{
	while (!stop)
		;
	return arg;
}

static void the_time_of_a_computing_thread_is_seen(void)
{
	pthread_t t = start(spin, NULL);
	clockid_t clock = clock_of(t);
	long first = read_ns(clock), now = first;

	while (now < first + 5 * MS) {
		long next = read_ns(clock);

		if (next < now)
			abort();
		now = next;
		usleep(100);
	}
	stop = 1;
	finish(t);
	printf("%d\n", now > first);
}

static void *wait_twice(void *arg)
{
	compute(MS);
	pthread_barrier_wait(arg);
	pthread_barrier_wait(arg);
	return NULL;
}

/* It may be on its way into the wait at the first look. */
static void a_waiting_thread_uses_nothing(void)
{
	pthread_barrier_t two;
	pthread_t t;
	clockid_t clock;
	long used, before;

	pthread_barrier_init(&two, NULL, 2);
	t = start(wait_twice, &two);
	clock = clock_of(t);
	pthread_barrier_wait(&two);
	do {
		before = read_ns(clock);
		compute(5 * MS);
		used = read_ns(clock) - before;
	} while (used != 0);
	printf("%d\n", before >= MS);
	pthread_barrier_wait(&two);
	finish(t);
}

static void *nothing(void *arg)
{
	return arg;
}

static void an_ended_thread_has_no_clock(void)
{
	pthread_t t = start(nothing, NULL);
	clockid_t clock;
	int error;

	do {
		error = pthread_getcpuclockid(t, &clock);
		usleep(100);
	} while (error == 0);
	show("ended", error);
	finish(t);
	show_errno("resolution", clock_getres((clockid_t)-1, NULL));
}

/* --- other ways to ask --------------------------------------------- */

static long usage_us(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_THREAD, &u) != 0)
		return -1;
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
	       u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

/* Each of the two times is cut to a whole microsecond. */
static void *ask_otherwise(void *arg)
{
	clockid_t clock = clock_of(pthread_self());
	struct timespec t = { 0, 0 };
	struct rusage u;
	long before, by_call, used_us;

	compute(5 * MS);
	before = own_ns();
	show_errno("call", syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID,
				   &t));
	by_call = t.tv_sec * SECOND + t.tv_nsec;
	printf("%d\n", by_call >= before && by_call <= own_ns());
	before = read_ns(clock);
	printf("%d\n", before >= by_call && before <= own_ns());
	while (usage_us() < before / 1000)
		;
	used_us = usage_us();
	printf("%d\n", used_us <= own_ns() / 1000 + 2);
	show_errno("call", syscall(SYS_getrusage, RUSAGE_THREAD, &u));
	printf("%d\n", u.ru_maxrss > 0);
	show_errno("resolution", clock_getres(clock, &t));
	printf("%ld %ld\n", (long)t.tv_sec, t.tv_nsec);
	show_errno("of itself", clock_getres(clock, NULL));
	show_errno("process", getrusage(RUSAGE_SELF, &u));
	show_errno("nobody", getrusage((__rusage_who_t)77, &u));
	return arg;
}

static void all_ways_tell_the_same(void)
{
	finish(start(ask_otherwise, NULL));
}

/* --- a child ------------------------------------------------------- */

static void tell_in_child(void)
{
	long used;

	used = own_ns();
	printf("%d\n", used <= read_ns(CLOCK_PROCESS_CPUTIME_ID));
	compute(2 * MS);
	finish(start(compute_and_tell, &used));
	used += own_ns();
	printf("%d\n", used >= 7 * MS);
	printf("%d\n", used <= read_ns(CLOCK_PROCESS_CPUTIME_ID));
	fflush(stdout);
	_exit(0);
}

static void *fork_and_wait(void *arg)
{
	compute(20 * MS);
	fflush(stdout);
	if (fork() == 0)
		tell_in_child();
	wait(NULL);
	return arg;
}

static void a_childs_begins_anew(void)
{
	fork_and_wait(NULL);
	finish(start(fork_and_wait, NULL));
}

static const struct compare_case cases[] = {
	COMPARE(what_threads_use_is_in_the_process),
	COMPARE(the_first_threads_goes_on),
	COMPARE(it_never_goes_back),
	COMPARE(the_time_of_a_computing_thread_is_seen),
	COMPARE(a_waiting_thread_uses_nothing),
	COMPARE(an_ended_thread_has_no_clock),
	COMPARE(all_ways_tell_the_same),
	COMPARE(a_childs_begins_anew),
};

COMPARE_MAIN(cases)
