/* SPDX-License-Identifier: MIT */
/*
 * threads/pairs.h - what do two threads that wake each other cost when thousands do so?
 * Nanoseconds a round trip: two wake-ups, two waits
 *
 * The figure includes the cache misses of a VCPU, and the cost of its queue when thousands
 * of threads are ready.
 */
#ifndef WEFT_BENCH_THREADS_PAIRS_H
#define WEFT_BENCH_THREADS_PAIRS_H

#include <stdlib.h>

#include "span.h"

struct pair {
	struct pairs_crew *crew;
	struct face_sem ping, pong;
};

struct pairs_crew {
	struct span span;
	struct pair *pair;
	uint64_t n;
};

static void *pair_ponger(void *arg)
{
	struct pair *p = arg;

	span_begin(&p->crew->span);
	for (uint64_t i = 0; i < p->crew->n; i++) {
		must(face_sem_wait(&p->ping), "sem_wait");
		must(face_sem_post(&p->pong), "sem_post");
	}
	span_end(&p->crew->span);
	return NULL;
}

static void *pair_pinger(void *arg)
{
	struct pair *p = arg;

	span_begin(&p->crew->span);
	for (uint64_t i = 0; i < p->crew->n; i++) {
		must(face_sem_post(&p->ping), "sem_post");
		must(face_sem_wait(&p->pong), "sem_wait");
	}
	span_end(&p->crew->span);
	return NULL;
}

static double pairs_rounds(struct bench_ctx *ctx, uint64_t n)
{
	const unsigned count = ctx->threads / 2;
	face_thread *id = calloc(2 * count, sizeof(*id));
	struct pairs_crew crew = { .n = n, .pair = calloc(count, sizeof(*crew.pair)) };

	if (!id || !crew.pair)
		bench_fail("out of memory");
	span_init(&crew.span, ctx, 2 * count);
	for (unsigned i = 0; i < count; i++) {
		struct pair *p = &crew.pair[i];

		p->crew = &crew;
		must(face_sem_init(&p->ping, 0), "sem_init");
		must(face_sem_init(&p->pong, 0), "sem_init");
		must(face_spawn(&id[2 * i], pair_ponger, p), "spawn");
		must(face_spawn(&id[2 * i + 1], pair_pinger, p), "spawn");
	}
	for (unsigned i = 0; i < 2 * count; i++)
		must(face_join(id[i]), "join");
	free(crew.pair);
	free(id);
	return span_ns(&crew.span);
}

static void pairs(struct bench_ctx *ctx)
{
	if (!FACE_IS_WEFT)
		bench_need_kernel_threads(ctx, ctx->threads);
	bench_emit(ctx, "", "ns",
		   bench_measure(ctx, 100, pairs_rounds) / (ctx->threads / 2));
}

#endif
