/* SPDX-License-Identifier: MIT */
/*
 * threads/beside.h - how long does one thread keep the others from running?
 *
 * beside-computing: a thread starts another, which computes without a call, and
 * takes the time from the other's beginning until it runs again itself. Each
 * time the other is a fresh thread: a light thread that was left to compute
 * once has lost its VCPU, and can no longer keep it from others.
 * beside-blocked: one thread sleeps in the kernel for a while, in a system call
 * that nobody has announced. Another is ready, and takes the time from the
 * beginning of that call until it runs. Both are on one VCPU, where nobody else
 * could run them, in wall time.
 */
#ifndef WEFT_BENCH_THREADS_BESIDE_H
#define WEFT_BENCH_THREADS_BESIDE_H

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "face.h"
#include "work.h"

#define BESIDE_SAMPLES	100
#define BESIDE_BLOCK_NS	60000000

struct beside {
	_Atomic int over, begun, ended;
	_Atomic int64_t since;
	int64_t late[BESIDE_SAMPLES];
};

static int beside_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void beside_emit(struct bench_ctx *ctx, struct beside *b)
{
	qsort(b->late, BESIDE_SAMPLES, sizeof(b->late[0]), beside_compare);
	bench_emit(ctx, "-p50", "ns", (double)b->late[BESIDE_SAMPLES / 2]);
	bench_emit(ctx, "-p90", "ns", (double)b->late[BESIDE_SAMPLES * 9 / 10]);
	bench_emit(ctx, "-max", "ns", (double)b->late[BESIDE_SAMPLES - 1]);
}

static void *beside_compute(void *arg)
{
	struct beside *b = arg;
	uint64_t x = 1;

	atomic_store(&b->since, bench_wall_now());
	while (!atomic_load(&b->over))
		x = bench_work(x, 1000);
	return NULL;
}

static void beside_computing(struct bench_ctx *ctx)
{
	static struct beside b;

	for (int i = 0; i < BESIDE_SAMPLES; i++) {
		face_thread id;

		atomic_store(&b.over, 0);
		atomic_store(&b.since, 0);
		must(face_spawn(&id, beside_compute, &b), "spawn");
		while (!atomic_load(&b.since))
			face_yield();
		b.late[i] = bench_wall_now() - atomic_load(&b.since);
		atomic_store(&b.over, 1);
		must(face_join(id), "join");
	}
	beside_emit(ctx, &b);
}

static void *beside_block(void *arg)
{
	const struct timespec t = { .tv_nsec = BESIDE_BLOCK_NS };
	struct beside *b = arg;

	for (int i = 1; i <= BESIDE_SAMPLES; i++) {
		while (atomic_load(&b->begun) < i)
			face_yield();
		atomic_store(&b->since, bench_wall_now());
		/* Not libc's function, which a runtime may wrap. */
		syscall(SYS_nanosleep, &t, NULL);
		atomic_store(&b->ended, i);
	}
	return NULL;
}

static void beside_blocked(struct bench_ctx *ctx)
{
	static struct beside b;
	face_thread id;

	must(face_spawn(&id, beside_block, &b), "spawn");
	for (int i = 1; i <= BESIDE_SAMPLES; i++) {
		atomic_store(&b.since, 0);
		atomic_store(&b.begun, i);
		while (!atomic_load(&b.since))
			face_yield();
		b.late[i - 1] = bench_wall_now() - atomic_load(&b.since);
		while (atomic_load(&b.ended) < i)
			face_yield();
	}
	must(face_join(id), "join");
	beside_emit(ctx, &b);
}

#endif
