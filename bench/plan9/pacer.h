/* SPDX-License-Identifier: MIT */
/*
 * plan9/pacer.h - how late does a thread with a period wake beside the program?
 *
 * pacer: one thread wakes every 10 ms, while the program of bodies.h runs again
 * and again. `late` is how long after the time that it asked for it runs; a
 * period is missed when the next one has begun by then.
 */
#ifndef WEFT_BENCH_PLAN9_PACER_H
#define WEFT_BENCH_PLAN9_PACER_H

#include <stdlib.h>

#include "face.h"
#include "lockfree/atomic.h"

#define PACER_PERIOD_NS	10000000
#define PACER_WAKES	1000

struct pacer {
	_Atomic int over;
	unsigned missed;
	double late[PACER_WAKES];
};

static void *pacer_main(void *arg)
{
	struct pacer *p = arg;
	int64_t next = bench_wall_now();

	for (unsigned i = 0; i < PACER_WAKES; i++) {
		int64_t late;

		next += PACER_PERIOD_NS;
		nap_until(next);
		late = bench_wall_now() - next;
		p->late[i] = (double)late;
		p->missed += (unsigned)(late / PACER_PERIOD_NS);
		next += late / PACER_PERIOD_NS * PACER_PERIOD_NS;
	}
	store_relaxed(&p->over, 1);
	return NULL;
}

static int pacer_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void pacer_emit(struct bench_ctx *ctx, struct pacer *p)
{
	qsort(p->late, PACER_WAKES, sizeof(p->late[0]), pacer_compare);
	bench_emit(ctx, "-p50", "us", p->late[PACER_WAKES / 2] / 1e3);
	bench_emit(ctx, "-p99", "us", p->late[PACER_WAKES * 99 / 100] / 1e3);
	bench_emit(ctx, "-p99.9", "us", p->late[PACER_WAKES * 999 / 1000] /
		   1e3);
	bench_emit(ctx, "-missed", "of 1000", (double)p->missed);
}

#endif
