/* SPDX-License-Identifier: MIT */
/*
 * threads/pingpong.h - what does it cost two threads to wake each other in
 * turns? Nanoseconds a round trip: two wake-ups, two waits
 */
#ifndef WEFT_BENCH_THREADS_PINGPONG_H
#define WEFT_BENCH_THREADS_PINGPONG_H

#include "span.h"

struct sem_table {
	struct span span;
	struct face_sem ping, pong;
	uint64_t n;
};

static void *sem_ponger(void *arg)
{
	struct sem_table *t = arg;

	span_begin(&t->span);
	for (uint64_t i = 0; i < t->n; i++) {
		must(face_sem_wait(&t->ping), "sem_wait");
		must(face_sem_post(&t->pong), "sem_post");
	}
	span_end(&t->span);
	return NULL;
}

static void *sem_pinger(void *arg)
{
	struct sem_table *t = arg;

	span_begin(&t->span);
	for (uint64_t i = 0; i < t->n; i++) {
		must(face_sem_post(&t->ping), "sem_post");
		must(face_sem_wait(&t->pong), "sem_wait");
	}
	span_end(&t->span);
	return NULL;
}

static double sem_rounds(struct bench_ctx *ctx, uint64_t n)
{
	struct sem_table t = { .n = n };
	face_thread a, b;

	span_init(&t.span, ctx, 2);
	must(face_sem_init(&t.ping, 0), "sem_init");
	must(face_sem_init(&t.pong, 0), "sem_init");
	must(face_spawn(&a, sem_ponger, &t), "spawn");
	must(face_spawn(&b, sem_pinger, &t), "spawn");
	must(face_join(a), "join");
	must(face_join(b), "join");
	return span_ns(&t.span);
}

static void sem_pingpong(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "ns", bench_measure(ctx, 100, sem_rounds));
}

struct cond_table {
	struct span span;
	struct face_mutex mutex;
	struct face_cond turned[2];
	int turn;		/* under mutex: the player, 0 or 1 */
	uint64_t n;
};

struct cond_player {
	struct cond_table *table;
	int number;
};

static void *cond_play(void *arg)
{
	struct cond_player *player = arg;
	struct cond_table *t = player->table;
	int me = player->number;

	span_begin(&t->span);
	for (uint64_t i = 0; i < t->n; i++) {
		must(face_lock(&t->mutex), "lock");
		while (t->turn != me)
			must(face_cond_wait(&t->turned[me], &t->mutex),
			     "cond_wait");
		t->turn = !me;
		must(face_cond_signal(&t->turned[!me]), "cond_signal");
		must(face_unlock(&t->mutex), "unlock");
	}
	span_end(&t->span);
	return NULL;
}

static double cond_rounds(struct bench_ctx *ctx, uint64_t n)
{
	struct cond_table t = { .n = n };
	struct cond_player player[2] = { { &t, 0 }, { &t, 1 } };
	face_thread id[2];

	span_init(&t.span, ctx, 2);
	must(face_mutex_init(&t.mutex, 0), "mutex_init");
	for (int i = 0; i < 2; i++) {
		must(face_cond_init(&t.turned[i]), "cond_init");
		must(face_spawn(&id[i], cond_play, &player[i]), "spawn");
	}
	for (int i = 0; i < 2; i++)
		must(face_join(id[i]), "join");
	return span_ns(&t.span);
}

static void cond_pingpong(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "ns", bench_measure(ctx, 100, cond_rounds));
}

#endif
