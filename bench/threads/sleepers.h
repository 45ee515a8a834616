/* SPDX-License-Identifier: MIT */
/*
 * threads/sleepers.h - what does a sleep cost while many threads sleep?
 *
 * Each thread sleeps three times, for a random time below a second. The CPU time is
 * the process's, on any number of VCPUs, and has a third of the thread's start and end
 * in it. A sleep is late by what passes between its deadline and the thread's next
 * instruction.
 */
#ifndef WEFT_BENCH_THREADS_SLEEPERS_H
#define WEFT_BENCH_THREADS_SLEEPERS_H

#include <stdlib.h>

#include "face.h"
#include "lockfree/atomic.h"

#define SLEEPS		3u
#define SLEEP_NS	1000000000u

static _Atomic uint64_t sleepers_late_ns, sleepers_next;

static void *sleeper(void *unused)
{
	uint64_t random = fetch_add_relaxed(&sleepers_next, 1) *
			  UINT64_C(0x9e3779b97f4a7c15), late = 0;

	for (unsigned i = 0; i < SLEEPS; i++) {
		random = random * UINT64_C(6364136223846793005) + 1;

		const int64_t ns = (int64_t)((random >> 32) % SLEEP_NS);
		const int64_t until = bench_wall_now() + ns;

		face_sleep(ns);
		late += (uint64_t)(bench_wall_now() - until);
	}
	fetch_add_relaxed(&sleepers_late_ns, late);
	return unused;
}

static double sleepers_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void sleepers(struct bench_ctx *ctx)
{
	const uint64_t n = ctx->threads;
	face_thread *id;
	double begin;

	if (!FACE_IS_WEFT)
		bench_need_kernel_threads(ctx, n);
	id = malloc(n * sizeof(*id));
	if (!id)
		bench_fail("out of memory");
	store_relaxed(&sleepers_late_ns, (uint64_t)0);
	begin = sleepers_cpu_ns();
	for (uint64_t i = 0; i < n; i++)
		must(face_spawn(&id[i], sleeper, NULL), "spawn");
	for (uint64_t i = 0; i < n; i++)
		must(face_join(id[i]), "join");
	bench_emit(ctx, "", "ns", (sleepers_cpu_ns() - begin) / (double)(n * SLEEPS));
	bench_emit(ctx, "-late", "ns", (double)load_relaxed(&sleepers_late_ns) /
				       (double)(n * SLEEPS));
	free(id);
}

#endif
