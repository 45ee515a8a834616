/* SPDX-License-Identifier: MIT */
/*
 * crew.h - kernel threads that do one thing over and over for a given time
 *
 * For suites whose variants are libraries rather than kinds of threads. The
 * process is kept on as many CPUs as the sample has "VCPUs"; where there are no
 * more members than CPUs, each has a CPU of its own.
 */
#ifndef WEFT_BENCH_CREW_H
#define WEFT_BENCH_CREW_H

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "lockfree/atomic.h"

#define CREW_MAX	64

struct crew_member {
	alignas(128) struct crew *crew;
	unsigned index;
	uint64_t turns;			/* counted by the body */
	void *own;			/* the suite's */
	pthread_t thread;
};

struct crew {
	void (*body)(struct crew_member *me);	/* until crew_is_over() */
	void *arg;
	struct bench_ctx *ctx;
	unsigned count;
	pthread_barrier_t start;
	double ns;			/* that it took */
	_Atomic int64_t begin;		/* of the first; 0: nobody has begun */
	alignas(128) _Atomic int over;
	struct crew_member member[CREW_MAX];
};

static inline int crew_is_over(const struct crew_member *me)
{
	/* Relaxed: it ends some time after it was told to. */
	return load_relaxed(&me->crew->over);
}

/* The n-th CPU that the process may use. */
static inline void crew_pin(unsigned n)
{
	cpu_set_t allowed, one;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || n-- > 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
		return;
	}
}

static inline void *crew_member_run(void *arg)
{
	struct crew_member *me = arg;
	int64_t nobody = 0;

	if (me->crew->count <= bench_cpus())
		crew_pin(me->index);
	pthread_barrier_wait(&me->crew->start);
	/* Relaxed: the number is all that is handed over. */
	if (load_relaxed(&me->crew->begin) == 0)
		cas_relaxed(&me->crew->begin, &nobody,
			    bench_now(me->crew->ctx));
	me->crew->body(me);
	return NULL;
}

/* Runs the body in `count` members for the time; ns is how long it was. */
static inline void crew_run(struct crew *c, struct bench_ctx *ctx,
			    unsigned count, int64_t ns,
			    void (*body)(struct crew_member *me))
{
	struct timespec nap = { ns / 1000000000, ns % 1000000000 };

	if (count > CREW_MAX)
		bench_fail("at most %d threads", CREW_MAX);
	c->ctx = ctx;
	c->count = count;
	c->body = body;
	store_relaxed(&c->over, 0);
	store_relaxed(&c->begin, (int64_t)0);
	pthread_barrier_init(&c->start, NULL, count + 1);
	for (unsigned i = 0; i < count; i++) {
		struct crew_member *m = &c->member[i];

		m->crew = c;
		m->index = i;
		m->turns = 0;
		if (pthread_create(&m->thread, NULL, crew_member_run, m))
			bench_fail("pthread_create");
	}
	bench_part_begin();
	pthread_barrier_wait(&c->start);
	nanosleep(&nap, NULL);
	store_relaxed(&c->over, 1);
	c->ns = (double)bench_now(ctx);
	for (unsigned i = 0; i < count; i++)
		pthread_join(c->member[i].thread, NULL);
	c->ns -= (double)load_relaxed(&c->begin);
	bench_part_end(c->ns);
	pthread_barrier_destroy(&c->start);
}

static inline uint64_t crew_turns(const struct crew *c)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < c->count; i++)
		sum += c->member[i].turns;
	return sum;
}

static inline uint64_t crew_least(const struct crew *c)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < c->count; i++)
		if (c->member[i].turns < least)
			least = c->member[i].turns;
	return least;
}

#endif
