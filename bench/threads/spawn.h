/* SPDX-License-Identifier: MIT */
/* threads/spawn.h - what does a thread cost, from its start to its end? */
#ifndef WEFT_BENCH_THREADS_SPAWN_H
#define WEFT_BENCH_THREADS_SPAWN_H

#include <stdlib.h>

#include "face.h"

static void *spawn_nothing(void *arg)
{
	return arg;
}

static double spawn_join_rounds(struct bench_ctx *ctx, uint64_t n)
{
	int64_t begin = bench_now(ctx);

	for (uint64_t i = 0; i < n; i++) {
		face_thread id;

		must(face_spawn(&id, spawn_nothing, NULL), "spawn");
		must(face_join(id), "join");
	}
	return (double)(bench_now(ctx) - begin);
}

static void spawn_join(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "ns", bench_measure(ctx, 100, spawn_join_rounds));
}

static double fan_out_rounds(struct bench_ctx *ctx, uint64_t n)
{
	face_thread *id = calloc(ctx->threads, sizeof(*id));
	int64_t begin, end;

	if (!id)
		bench_fail("out of memory");
	begin = bench_now(ctx);
	for (uint64_t round = 0; round < n; round++) {
		for (unsigned i = 0; i < ctx->threads; i++)
			must(face_spawn(&id[i], spawn_nothing, NULL), "spawn");
		for (unsigned i = 0; i < ctx->threads; i++)
			must(face_join(id[i]), "join");
	}
	end = bench_now(ctx);
	free(id);
	return (double)(end - begin);
}

/* Many at once, joined in the order of their start; nanoseconds for each. */
static void fan_out(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "ns",
		   bench_measure(ctx, 1, fan_out_rounds) / ctx->threads);
}

#endif
