/* SPDX-License-Identifier: MIT */
/*
 * channels/skynet.h - a tree of threads, ten a node, each of which sends its sum to its
 * parent's channel; see bodies.h
 */
#ifndef WEFT_BENCH_CHANNELS_SKYNET_H
#define WEFT_BENCH_CHANNELS_SKYNET_H

#include "channels/face_chan.h"
#include "enter.h"

#define SKYNET_FAN	10

struct sky {
	struct face_chan *up;
	uint64_t first, leaves;
};

static void *sky(void *arg)
{
	struct sky *s = arg, child[SKYNET_FAN];
	uint64_t part = s->leaves / SKYNET_FAN, sum = 0;
	face_thread id[SKYNET_FAN];
	struct face_chan c;

	if (s->leaves == 1) {
		face_chan_send(s->up, s->first);
		return NULL;
	}
	face_chan_create(&c, 0, 0);
	for (unsigned i = 0; i < SKYNET_FAN; i++) {
		child[i] = (struct sky){ &c, s->first + i * part, part };
		must(face_spawn(&id[i], sky, &child[i]), "spawn");
	}
	for (unsigned i = 0; i < SKYNET_FAN; i++)
		sum += face_chan_recv(&c);
	for (unsigned i = 0; i < SKYNET_FAN; i++)
		must(face_join(id[i]), "join");
	face_chan_destroy(&c);
	face_chan_send(s->up, sum);
	return NULL;
}

static double sky_rounds(struct bench_ctx *ctx, uint64_t n)
{
	uint64_t leaves = ctx->threads;
	int64_t begin = bench_now(ctx);

	for (uint64_t i = 0; i < n; i++) {
		struct face_chan c;
		struct sky root = { &c, 0, leaves };
		face_thread id;

		face_chan_create(&c, 0, 0);
		must(face_spawn(&id, sky, &root), "spawn");
		if (face_chan_recv(&c) != leaves * (leaves - 1) / 2)
			bench_fail("skynet: a wrong sum");
		must(face_join(id), "join");
		face_chan_destroy(&c);
	}
	return (double)(bench_now(ctx) - begin);
}

static void skynet(struct bench_ctx *ctx)
{
	if (!FACE_IS_WEFT)
		bench_need_kernel_threads(ctx, ctx->threads);
	bench_emit(ctx, "", "ns", bench_measure(ctx, 1, sky_rounds) /
		   ctx->threads);
}

#if FACE_IS_WEFT
struct locked_sky {
	struct locked_chan *up;
	uint64_t first, leaves;
};

static void *locked_sky(void *arg)
{
	struct locked_sky *s = arg, child[SKYNET_FAN];
	uint64_t part = s->leaves / SKYNET_FAN, sum = 0;
	face_thread id[SKYNET_FAN];
	struct locked_chan c;

	if (s->leaves == 1) {
		locked_chan_send(s->up, s->first);
		return NULL;
	}
	locked_chan_create(&c, 0);
	for (unsigned i = 0; i < SKYNET_FAN; i++) {
		child[i] = (struct locked_sky){ &c, s->first + i * part, part };
		must(face_spawn(&id[i], locked_sky, &child[i]), "spawn");
	}
	for (unsigned i = 0; i < SKYNET_FAN; i++)
		sum += locked_chan_recv(&c);
	for (unsigned i = 0; i < SKYNET_FAN; i++)
		must(face_join(id[i]), "join");
	locked_chan_destroy(&c);
	locked_chan_send(s->up, sum);
	return NULL;
}

static double locked_sky_rounds(struct bench_ctx *ctx, uint64_t n)
{
	uint64_t leaves = ctx->threads;
	int64_t begin = bench_now(ctx);

	for (uint64_t i = 0; i < n; i++) {
		struct locked_chan c;
		struct locked_sky root = { &c, 0, leaves };
		face_thread id;

		locked_chan_create(&c, 0);
		must(face_spawn(&id, locked_sky, &root), "spawn");
		if (locked_chan_recv(&c) != leaves * (leaves - 1) / 2)
			bench_fail("skynet: a wrong sum");
		must(face_join(id), "join");
		locked_chan_destroy(&c);
	}
	return (double)(bench_now(ctx) - begin);
}

static void skynet_locked(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "ns", bench_measure(ctx, 1, locked_sky_rounds) /
		   ctx->threads);
}
#endif

#endif
