/* SPDX-License-Identifier: MIT */
/*
 * channels/bodies.h - what does it cost to pass messages?
 *
 * rendezvous: a round trip between two threads over two channels without a
 * buffer. round-trip-2: the same with two places in each buffer, of which one is
 * ever used. one-to-one, stream, four-to-four: a stream through a buffer of 128,
 * the first declared one-to-one; millions of messages a second. sieve: the filters
 * of the first 2,000 primes in a row, rendezvous between them; sieve-2: two places
 * in each channel. short-pairs: 600 pairs of threads, a sender and a receiver of 16
 * messages each, without a buffer. skynet: a tree of threads, ten a node, each of
 * which sends its sum to its parent's channel; locked-skynet: the same through
 * locked_chan.h. channels/go/main.go is the same in Go.
 */
#ifndef WEFT_BENCH_CHANNELS_BODIES_H
#define WEFT_BENCH_CHANNELS_BODIES_H

#include "channels/channels.h"
#include "channels/face_chan.h"
#include "channels/skynet.h"
#include "enter.h"

#define CAPACITY	128
#define SIEVE_PRIMES	2000

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

static double stream_rounds(struct bench_ctx *ctx, uint64_t n, unsigned pairs,
			    int one_to_one)
{
	struct stream s = { .n = n };
	face_thread a[4], b[4];
	int64_t begin;

	face_chan_create(&s.there, CAPACITY, one_to_one);
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
	return stream_rounds(ctx, n, 1, 1);
}

static double undeclared_rounds(struct bench_ctx *ctx, uint64_t n)
{
	return stream_rounds(ctx, n, 1, 0);
}

static double four_rounds(struct bench_ctx *ctx, uint64_t n)
{
	return stream_rounds(ctx, n, 4, 0);
}

static void one_to_one(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "M/s", 1e3 / bench_measure(ctx, 1000, one_rounds));
}

static void stream(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "M/s",
		   1e3 / bench_measure(ctx, 1000, undeclared_rounds));
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
	unsigned capacity;
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
		f->next->capacity = f->capacity;
		face_chan_create(&f->next->in, f->capacity, 0);
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
static double sieve_of(struct bench_ctx *ctx, uint64_t n, unsigned capacity)
{
	int64_t begin = bench_now(ctx);

	for (uint64_t round = 0; round < n; round++) {
		struct filter first = {
			.primes_left = SIEVE_PRIMES, .capacity = capacity,
		};

		face_chan_create(&first.in, capacity, 0);
		must(face_spawn(&first.id, filter, &first), "spawn");
		for (uint64_t x = 2; x <= 17389; x++)
			face_chan_send(&first.in, x);
		face_chan_send(&first.in, 0);
		must(face_join(first.id), "join");
		face_chan_destroy(&first.in);
	}
	return (double)(bench_now(ctx) - begin);
}

static double sieve_rounds(struct bench_ctx *ctx, uint64_t n)
{
	return sieve_of(ctx, n, 0);
}

static void sieve(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "ms", bench_measure(ctx, 1, sieve_rounds) / 1e6);
}

static double sieve_2_rounds(struct bench_ctx *ctx, uint64_t n)
{
	return sieve_of(ctx, n, 2);
}

static void sieve_2(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "ms", bench_measure(ctx, 1, sieve_2_rounds) / 1e6);
}

#define SHORT_MESSAGES	16

/* All threads are started before the first is joined. */
static double short_rounds(struct bench_ctx *ctx, uint64_t n)
{
	const unsigned pairs = ctx->threads / 2;
	struct stream *s = calloc(pairs, sizeof(*s));
	face_thread *id = calloc(2 * pairs, sizeof(*id));
	int64_t begin;

	must(s && id ? 0 : ENOMEM, "calloc");
	begin = bench_now(ctx);
	for (uint64_t round = 0; round < n; round++) {
		for (unsigned i = 0; i < pairs; i++) {
			s[i].n = SHORT_MESSAGES;
			face_chan_create(&s[i].there, 0, 0);
			must(face_spawn(&id[2 * i], source, &s[i]), "spawn");
			must(face_spawn(&id[2 * i + 1], sink, &s[i]), "spawn");
		}
		for (unsigned i = 0; i < 2 * pairs; i++)
			must(face_join(id[i]), "join");
		for (unsigned i = 0; i < pairs; i++)
			face_chan_destroy(&s[i].there);
	}
	begin = bench_now(ctx) - begin;
	free(s);
	free(id);
	return (double)begin;
}

static void short_pairs(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "ms", bench_measure(ctx, 1, short_rounds) / 1e6);
}

static const struct bench_body channels_bodies[] = {
	{ "rendezvous", rendezvous },
	{ "round-trip-2", round_trip_2 },
	{ "one-to-one", one_to_one },
	{ "stream", stream },
	{ "four-to-four", four_to_four },
	{ "sieve", sieve },
	{ "sieve-2", sieve_2 },
	{ "short-pairs", short_pairs },
	{ "skynet", skynet },
#if FACE_IS_WEFT
	{ "locked-skynet", skynet_locked },
#endif
	{ NULL, NULL },
};

const struct bench_variant FACE_SYMBOL(bench_channels_) = {
	.name = FACE_TEXT(FACE_NAME),
	.bit = FACE_BIT,
	.enter = face_enter,
	.bodies = channels_bodies,
};

#endif
