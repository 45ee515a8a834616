/* SPDX-License-Identifier: MIT */
/*
 * test_profile_calls.c - SIGPROF, ten thousand times a second, over each function
 *
 * The handler posts a semaphore, reads the clock and walks the stack, whatever it has
 * interrupted. An hour of it is part of check-full.
 */
#include "profile_calls.h"

#include <execinfo.h>

#define THREADS		4
#define EVERY_NS	100000
#define CALLS		10000	/* of each thread */
#define SELDOM		64	/* what is dear: one of so many times */
#define DEEP		16

static _Atomic long posted, taken, backwards;
static _Atomic int stop;
static sem_t profile;

static void on_profile(int signal, siginfo_t *info, void *context)
{
	static _Thread_local struct timespec last;
	struct timespec now;
	void *frames[DEEP];
	const int saved = errno;

	(void)signal;
	(void)info;
	(void)context;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec < last.tv_sec ||
	    (now.tv_sec == last.tv_sec && now.tv_nsec < last.tv_nsec))
		backwards++;
	last = now;
	(void)!backtrace(frames, DEEP);
	posted++;
	sem_post(&profile);
	errno = saved;
}

static void *take_all(void *arg)
{
	while (!stop || taken < posted)
		if (sem_wait(&profile) == 0)
			taken++;
	return arg;
}

static const struct call {
	void (*run)(void);
	int is_seldom;
} calls[] = {
	{ create_and_join, 0 }, { create_and_join_in_time, 0 },
	{ create_and_detach, 0 }, { create_and_exit, 0 },
	{ create_and_cancel, 0 }, { c_create_and_join, 0 },
	{ tell_itself, 0 }, { lock_and_count, 0 }, { lock_in_time, 0 },
	{ lock_others, 0 }, { signal_and_wait, 0 }, { read_and_write, 0 },
	{ spin_and_count, 0 }, { meet_one, 0 }, { post_and_take, 0 },
	{ use_futex, 0 }, { let_time_pass, 0 }, { change_mask, 0 },
	{ allocate, 0 }, { use_pipe, 0 }, { use_sockets, 0 },
	{ use_file, 0 }, { use_messages, 0 }, { print, 0 },
	{ have_child, 1 }, { look_up, 1 },
};

static void *call_all(void *seed)
{
	uint32_t x = (uint32_t)(uintptr_t)seed * 2654435761u;

	for (long i = 0; i < scaled(CALLS); i++) {
		const struct call *c;

		x = x * 1664525 + 1013904223;
		c = &calls[(x >> 8) % (sizeof(calls) / sizeof(*calls))];
		if (!c->is_seldom || (x >> 4) % SELDOM == 0)
			c->run();
	}
	return NULL;
}

static timer_t begin_profile(void)
{
	const struct sigaction action = { .sa_sigaction = on_profile,
					  .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGPROF };
	const struct itimerspec every = { { 0, EVERY_NS }, { 0, EVERY_NS } };
	timer_t timer;

	sigaction(SIGPROF, &action, NULL);
	MUST(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	MUST(timer_settime(timer, 0, &every, NULL) == 0);
	return timer;
}

static void each_function(void)
{
	pthread_t t[THREADS], taker;
	void *frames[DEEP];
	timer_t timer;

	(void)!backtrace(frames, DEEP);		/* loads what it needs */
	sem_init(&profile, 0, 0);
	make_objects();
	taker = start(take_all, NULL);
	timer = begin_profile();
	for (size_t i = 0; i < THREADS; i++)
		t[i] = start(call_all, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
	timer_delete(timer);
	posted++;
	stop = 1;
	sem_post(&profile);
	finish(taker);
	/* A signal may still have come since. */
	signal(SIGPROF, SIG_IGN);
	while (sem_trywait(&profile) == 0)
		taken++;
	remove_objects();
	printf("profiled %d, lost %ld, backwards %ld\n", posted > 1,
	       posted - taken, backwards);
}

static const struct compare_case cases[] = {
	COMPARE(each_function),
};

COMPARE_MAIN(cases)
