/* SPDX-License-Identifier: MIT */
/*
 * channels/bodies.h - what does it cost to pass messages?
 *
 * rendezvous: a round trip between two threads over two channels without a
 * buffer. round-trip-2: the same with two places in each buffer, of which one is
 * ever used. one-to-one, four-to-four: a stream through a buffer of 128, declared
 * one-to-one the first; millions of messages a second. sieve: the filters of
 * the first 2,000 primes in a row, rendezvous between them. skynet: a tree of
 * threads, ten a node, each of which sends its sum to its parent's channel.
 * channels/go/main.go is the same in Go.
 */
#ifndef WEFT_BENCH_CHANNELS_BODIES_H
#define WEFT_BENCH_CHANNELS_BODIES_H

#include "channels/channels.h"
#include "channels/face_chan.h"
#include "enter.h"

#define CAPACITY	128
#define SIEVE_PRIMES	2000
#define SKYNET_FAN	10

struct stream {
	const struct bench_ctx *ctx;
	struct face_chan there, back;
	uint64_t n;			/* messages of each thread */
};

static void *ponger(void *arg)
{
	struct stream *s = arg;

	for (uint64_t i = 0; i < s->n; i++)
		face_chan_send(&s->back, face_chan_recv(&s->there));
	return NULL;
}

static void *pinger(void *arg)
{
	struct stream *s = arg;

	for (uint64_t i = 0; i < s->n; i++) {
		face_chan_send(&s->there, i);
		if (face_chan_recv(&s->back) != i)
			bench_fail("a message came back another");
	}
	return NULL;
}

static double round_trips(struct bench_ctx *ctx, uint64_t n, unsigned capacity)
{
	struct stream s = { .n = n };
	face_thread a, b;
	int64_t begin;

	face_chan_create(&s.there, capacity, 0);
	face_chan_create(&s.back, capacity, 0);
	begin = bench_now(ctx);
	must(face_spawn(&a, ponger, &s), "spawn");
	must(face_spawn(&b, pinger, &s), "spawn");
	must(face_join(a), "join");
	must(face_join(b), "join");
	begin = bench_now(ctx) - begin;
	face_chan_destroy(&s.there);
	face_chan_destroy(&s.back);
	return (double)begin;
}

static double rendezvous_rounds(struct bench_ctx *ctx, uint64_t n)
{
	return round_trips(ctx, n, 0);
}

static void rendezvous(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "ns", bench_measure(ctx, 100, rendezvous_rounds));
}

static double buffered_rounds(struct bench_ctx *ctx, uint64_t n)
{
	return round_trips(ctx, n, 2);
}

static void round_trip_2(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "ns", bench_measure(ctx, 100, buffered_rounds));
}

static void *source(void *arg)
{
	struct stream *s = arg;

	for (uint64_t i = 0; i < s->n; i++)
		face_chan_send(&s->there, i);
	return NULL;
}

static void *sink(void *arg)
{
	struct stream *s = arg;

	for (uint64_t i = 0; i < s->n; i++)
		(void)face_chan_recv(&s->there);
	return NULL;
}

static double stream_rounds(struct bench_ctx *ctx, uint64_t n, unsigned pairs)
{
	struct stream s = { .n = n };
	face_thread a[4], b[4];
	int64_t begin;

	face_chan_create(&s.there, CAPACITY, pairs == 1);
	begin = bench_now(ctx);
	for (unsigned i = 0; i < pairs; i++) {
		must(face_spawn(&a[i], source, &s), "spawn");
		must(face_spawn(&b[i], sink, &s), "spawn");
	}
	for (unsigned i = 0; i < pairs; i++) {
		must(face_join(a[i]), "join");
		must(face_join(b[i]), "join");
	}
	begin = bench_now(ctx) - begin;
	face_chan_destroy(&s.there);
	return (double)begin / pairs;
}

static double one_rounds(struct bench_ctx *ctx, uint64_t n)
{
	return stream_rounds(ctx, n, 1);
}

static double four_rounds(struct bench_ctx *ctx, uint64_t n)
{
	return stream_rounds(ctx, n, 4);
}

static void one_to_one(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "M/s", 1e3 / bench_measure(ctx, 1000, one_rounds));
}

static void four_to_four(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "M/s", 1e3 / bench_measure(ctx, 1000, four_rounds));
}

struct filter {
	struct face_chan in;
	face_thread id;
	struct filter *next;
	uint64_t primes_left;
};

/* The first number that comes is a prime; passes on what it does not divide. */
static void *filter(void *arg)
{
	struct filter *f = arg;
	uint64_t prime = face_chan_recv(&f->in), x;

	if (f->primes_left > 1) {
		f->next = calloc(1, sizeof(*f->next));
		must(f->next ? 0 : ENOMEM, "calloc");
		f->next->primes_left = f->primes_left - 1;
		face_chan_create(&f->next->in, 0, 0);
		must(face_spawn(&f->next->id, filter, f->next), "spawn");
	}
	/* 0 is the end: the last prime is known. */
	while ((x = face_chan_recv(&f->in)) != 0)
		if (f->next && x % prime)
			face_chan_send(&f->next->in, x);
	if (!f->next)
		return NULL;
	face_chan_send(&f->next->in, 0);
	must(face_join(f->next->id), "join");
	face_chan_destroy(&f->next->in);
	free(f->next);
	return NULL;
}

/* The 2,000th prime is 17,389. */
static double sieve_rounds(struct bench_ctx *ctx, uint64_t n)
{
	int64_t begin = bench_now(ctx);

	for (uint64_t round = 0; round < n; round++) {
		struct filter first = { .primes_left = SIEVE_PRIMES };

		face_chan_create(&first.in, 0, 0);
		must(face_spawn(&first.id, filter, &first), "spawn");
		for (uint64_t x = 2; x <= 17389; x++)
			face_chan_send(&first.in, x);
		face_chan_send(&first.in, 0);
		must(face_join(first.id), "join");
		face_chan_destroy(&first.in);
	}
	return (double)(bench_now(ctx) - begin);
}

static void sieve(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "ms", bench_measure(ctx, 1, sieve_rounds) / 1e6);
}

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

static const struct bench_body channels_bodies[] = {
	{ "rendezvous", rendezvous },
	{ "round-trip-2", round_trip_2 },
	{ "one-to-one", one_to_one },
	{ "four-to-four", four_to_four },
	{ "sieve", sieve },
	{ "skynet", skynet },
	{ NULL, NULL },
};

const struct bench_variant FACE_SYMBOL(bench_channels_) = {
	.name = FACE_TEXT(FACE_NAME),
	.bit = FACE_BIT,
	.enter = face_enter,
	.bodies = channels_bodies,
};

#endif
