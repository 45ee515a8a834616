/* SPDX-License-Identifier: MIT */
/* threads/yield.h - what does a switch to the next ready thread cost? */
#ifndef WEFT_BENCH_THREADS_YIELD_H
#define WEFT_BENCH_THREADS_YIELD_H

#include <stdlib.h>

#include "span.h"

struct yield_crew {
	struct span span;
	uint64_t n;
};

static void *yield_thread(void *arg)
{
	struct yield_crew *crew = arg;
	uint64_t n = crew->n;

	span_begin(&crew->span);
	for (uint64_t i = 0; i < n; i++)
		face_yield();
	span_end(&crew->span);
	return NULL;
}

static double yield_rounds(struct bench_ctx *ctx, uint64_t n)
{
	face_thread *id = calloc(ctx->threads, sizeof(*id));
	struct yield_crew crew = { .n = n };

	if (!id)
		bench_fail("out of memory");
	span_init(&crew.span, ctx, ctx->threads);
	for (unsigned i = 0; i < ctx->threads; i++)
		must(face_spawn(&id[i], yield_thread, &crew), "spawn");
	for (unsigned i = 0; i < ctx->threads; i++)
		must(face_join(id[i]), "join");
	free(id);
	return span_ns(&crew.span);
}

/* Nanoseconds for each call, the calls of all threads counted. */
static void yield(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "ns",
		   bench_measure(ctx, 4, yield_rounds) / ctx->threads);
}

#endif
