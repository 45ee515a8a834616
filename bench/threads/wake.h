/* SPDX-License-Identifier: MIT */
/*
 * threads/wake.h - how long from a wake-up until the woken thread runs?
 *
 * wake-park: the thread that wakes then parks itself, so that its own VCPU is
 * free for the other. wake-idle: it goes on computing for a while, so that the
 * other can only run on a VCPU that was idle and has to come out of the
 * kernel. Always wall time, with the clock's own cost of some 20 ns in it.
 */
#ifndef WEFT_BENCH_THREADS_WAKE_H
#define WEFT_BENCH_THREADS_WAKE_H

#include <stdlib.h>

#include "face.h"
#include "work.h"

#define WAKE_SAMPLES_MAX	100000
#define WAKE_BUSY_NS		100000
#define WAKE_WARM_UP		1000

struct wake_table {
	struct face_sem go, done;
	int64_t woken_at;	/* handed to and fro with the semaphores */
	uint64_t n;
	int64_t *latency;
};

static void *wake_sleeper(void *arg)
{
	struct wake_table *t = arg;

	for (uint64_t i = 0; i < t->n; i++) {
		must(face_sem_wait(&t->go), "sem_wait");
		t->latency[i] = bench_wall_now() - t->woken_at;
		must(face_sem_post(&t->done), "sem_post");
	}
	return NULL;
}

static void wake_sample(struct wake_table *t, int64_t busy_ns)
{
	face_thread id;
	uint64_t x = 1;

	must(face_sem_init(&t->go, 0), "sem_init");
	must(face_sem_init(&t->done, 0), "sem_init");
	must(face_spawn(&id, wake_sleeper, t), "spawn");
	for (uint64_t i = 0; i < t->n; i++) {
		int64_t now = bench_wall_now();

		t->woken_at = now;
		must(face_sem_post(&t->go), "sem_post");
		while (bench_wall_now() - now < busy_ns)
			x = bench_work(x, 50);
		must(face_sem_wait(&t->done), "sem_wait");
	}
	must(face_join(id), "join");
}

static int wake_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void wake_emit(struct bench_ctx *ctx, const struct wake_table *t)
{
	qsort(t->latency, t->n, sizeof(*t->latency), wake_compare);
	bench_emit(ctx, "-p50", "ns", (double)t->latency[t->n / 2]);
	bench_emit(ctx, "-p99", "ns", (double)t->latency[t->n * 99 / 100]);
	bench_emit(ctx, "-p99.9", "ns", (double)t->latency[t->n * 999 / 1000]);
}

static void wake_run(struct bench_ctx *ctx, int64_t busy_ns)
{
	struct wake_table t = { .n = WAKE_WARM_UP };
	int64_t begin;
	double each;

	t.latency = calloc(WAKE_SAMPLES_MAX, sizeof(*t.latency));
	if (!t.latency)
		bench_fail("out of memory");
	begin = bench_wall_now();
	wake_sample(&t, busy_ns);
	each = (double)(bench_wall_now() - begin) / WAKE_WARM_UP;
	t.n = (uint64_t)((double)ctx->target_ns / each);
	/* 1,000 at least, or p99.9 means nothing. */
	if (t.n < 1000)
		t.n = 1000;
	if (t.n > WAKE_SAMPLES_MAX)
		t.n = WAKE_SAMPLES_MAX;
	wake_sample(&t, busy_ns);
	wake_emit(ctx, &t);
	free(t.latency);
}

static void wake_park(struct bench_ctx *ctx)
{
	wake_run(ctx, 0);
}

static void wake_idle(struct bench_ctx *ctx)
{
	wake_run(ctx, WAKE_BUSY_NS);
}

#endif
