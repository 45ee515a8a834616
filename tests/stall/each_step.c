/* SPDX-License-Identifier: MIT */
/* each_step.c - a call without the runtime, stopped before each of its steps */
#include "each_step.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "lockfree/atomic.h"
#include "steps.h"
#include "support.h"

#define ALWAYS		12	/* not scaled */
#define EVERY_STEP	30
#define LOOKS		5000	/* at a lock: for ever */

struct victim {
	const struct each_step *what;
	void *arg;
	size_t n;
	atomic_int returned;
};

static void *run(void *arg)
{
	struct victim *v = arg;

	if (v->what->arrive)
		v->what->arrive(v->arg);
	steps_begin(v->n);
	v->what->call(v->arg);
	steps_end();
	atomic_store(&v->returned, 1);
	return NULL;
}

/* Returns 1 if the victim is stopped, 0 if it has returned. */
static int await(struct victim *v)
{
	while (!steps_stopped() && !atomic_load(&v->returned))
		sched_yield();
	return steps_stopped();
}

static void do_if(void (*what)(void *arg), void *arg)
{
	if (what)
		what(arg);
}

/* Returns 1 if the call had an n-th step. */
static int stop_at(const struct each_step *what, void *arg, size_t n)
{
	struct victim v = { .what = what, .arg = arg, .n = n };
	pthread_t thread;
	int stopped;

	do_if(what->prepare, arg);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, run, &v), 0);
	stopped = await(&v);
	if (stopped) {
		do_if(what->others, arg);
		if (what->later) {
			steps_go_to(n + 1);
			if (await(&v))
				what->later(arg);
		}
	}
	steps_release();
	pthread_join(thread, NULL);
	do_if(what->after, arg);
	return stopped;
}

size_t each_step_of_one(const struct each_step *what, void *arg, size_t n)
{
	struct victim v = { .what = what, .arg = arg, .n = n };
	pthread_t thread;
	size_t stops = 0;

	do_if(what->prepare, arg);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, run, &v), 0);
	for (; await(&v); stops++) {
		do_if(what->others, arg);
		steps_go_to(n + stops + 1);
	}
	steps_release();
	pthread_join(thread, NULL);
	do_if(what->after, arg);
	return stops;
}

/* All at first, further apart then: the same few in a loop. */
static size_t next_step(size_t n, uint64_t *random)
{
	if (n < ALWAYS + test_scaled(EVERY_STEP))
		return n + 1;
	return n + 1 + test_random_below(random, n);
}

size_t each_step(const struct each_step *what, void *arg)
{
	uint64_t random = test_seed(0);
	size_t stops = 0;

	for (size_t n = 1; stop_at(what, arg, n); n = next_step(n, &random))
		stops++;
	return stops;
}

void each_step_took(struct each_step_most *most, size_t before)
{
	size_t took = steps_own() - before;

	if (took > most->steps)
		most->steps = took;
}

int each_step_spin(_Atomic uint32_t *lock)
{
	for (int looks = 0; looks < LOOKS; looks++) {
		uint32_t is_free = 0;

		if (cas_acquire(lock, &is_free, 1u))
			return 1;
	}
	return 0;
}
