/* SPDX-License-Identifier: MIT */
/*
 * locks/bodies.h - what do a lock, a wake-up and a switch cost?
 *
 * All but "hand-off" are those of bench-threads. In "hand-off" two threads
 * lock, yield with the lock held, and unlock. So each unlock finds the other
 * thread waiting. A turn is a lock that waits, a yield, and an unlock that
 * wakes.
 */
#ifndef WEFT_BENCH_LOCKS_BODIES_H
#define WEFT_BENCH_LOCKS_BODIES_H

#include "enter.h"
#include "locks/locks.h"
#include "threads/lock.h"
#include "threads/pingpong.h"
#include "threads/yield.h"

struct hand_off {
	struct span span;
	struct face_mutex mutex;
	uint64_t n;
};

static void *hand_off_thread(void *arg)
{
	struct hand_off *h = arg;

	span_begin(&h->span);
	for (uint64_t i = 0; i < h->n; i++) {
		must(face_lock(&h->mutex), "lock");
		face_yield();
		must(face_unlock(&h->mutex), "unlock");
	}
	span_end(&h->span);
	return NULL;
}

static double hand_off_rounds(struct bench_ctx *ctx, uint64_t n)
{
	struct hand_off h = { .n = n };
	face_thread a, b;

	span_init(&h.span, ctx, 2);
	must(face_mutex_init(&h.mutex, (unsigned)ctx->question->arg),
	     "mutex_init");
	must(face_spawn(&a, hand_off_thread, &h), "spawn");
	must(face_spawn(&b, hand_off_thread, &h), "spawn");
	must(face_join(a), "join");
	must(face_join(b), "join");
	return span_ns(&h.span);
}

/* Nanoseconds a turn, those of both counted. */
static void hand_off(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "ns",
		   bench_measure(ctx, 100, hand_off_rounds) / 2);
}

static const struct bench_body locks_bodies[] = {
	{ "lock", lock_unlock },
	{ "round-trip", sem_pingpong },
	{ "cond-round-trip", cond_pingpong },
	{ "yield", yield },
	{ "hand-off", hand_off },
	{ NULL, NULL },
};

const struct bench_variant FACE_SYMBOL(bench_locks_) = {
	.name = FACE_TEXT(FACE_NAME),
	.bit = FACE_BIT,
	.enter = face_enter,
	.bodies = locks_bodies,
};

#endif
