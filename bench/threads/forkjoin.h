/* SPDX-License-Identifier: MIT */
/*
 * threads/forkjoin.h - how fine may the parts of a computation be cut?
 *
 * fib spawns a thread for one of its two calls and makes the other itself; the
 * figure is nanoseconds a spawn. skynet is a tree in which each thread spawns
 * ten, down to the leaves, which are added up by joins; nanoseconds a leaf.
 * Both are measured by wall time as well, so that one and two VCPUs can be
 * compared.
 */
#ifndef WEFT_BENCH_THREADS_FORKJOIN_H
#define WEFT_BENCH_THREADS_FORKJOIN_H

#include "face.h"

/* A kernel thread costs a thousand times as much: the figure is per spawn. */
#define FIB_N		(FACE_IS_WEFT ? 27 : 14)
#define SKYNET_FAN	10

struct fib_call {
	unsigned n;
	uint64_t result;
};

static void *fib_thread(void *arg)
{
	struct fib_call *call = arg;
	struct fib_call a = { .n = call->n - 1 }, b = { .n = call->n - 2 };
	face_thread id;

	if (call->n < 2) {
		call->result = call->n;
		return NULL;
	}
	must(face_spawn(&id, fib_thread, &a), "spawn");
	fib_thread(&b);
	must(face_join(id), "join");
	call->result = a.result + b.result;
	return NULL;
}

static uint64_t fib_of(unsigned n)
{
	uint64_t a = 0, b = 1;

	while (n--) {
		uint64_t next = a + b;

		a = b;
		b = next;
	}
	return a;
}

static int64_t forkjoin_wall;	/* of the last run */

static double fib_rounds(struct bench_ctx *ctx, uint64_t n)
{
	int64_t wall = bench_wall_now(), begin = bench_now(ctx);
	double ns;

	for (uint64_t i = 0; i < n; i++) {
		struct fib_call call = { .n = FIB_N };

		fib_thread(&call);
		if (call.result != fib_of(FIB_N))
			bench_fail("fib(%d) = %llu", FIB_N,
				   (unsigned long long)call.result);
	}
	ns = (double)(bench_now(ctx) - begin);
	forkjoin_wall = (bench_wall_now() - wall) / (int64_t)n;
	return ns;
}

static void fib(struct bench_ctx *ctx)
{
	/* A call of fib(n) with n > 1 spawns; there are fib(n + 1) - 1. */
	double spawns = (double)(fib_of(FIB_N + 1) - 1);

	bench_emit(ctx, "", "ns", bench_measure(ctx, 1, fib_rounds) / spawns);
	bench_emit(ctx, "-wall", "ns", (double)forkjoin_wall / spawns);
}

struct skynet_node {
	uint64_t first, leaves, sum;
};

static void *skynet_thread(void *arg)
{
	struct skynet_node *node = arg;
	struct skynet_node child[SKYNET_FAN];
	face_thread id[SKYNET_FAN];
	uint64_t part = node->leaves / SKYNET_FAN;

	if (node->leaves == 1) {
		node->sum = node->first;
		return NULL;
	}
	for (unsigned i = 0; i < SKYNET_FAN; i++) {
		child[i].first = node->first + i * part;
		child[i].leaves = part;
		must(face_spawn(&id[i], skynet_thread, &child[i]), "spawn");
	}
	node->sum = 0;
	for (unsigned i = 0; i < SKYNET_FAN; i++) {
		must(face_join(id[i]), "join");
		node->sum += child[i].sum;
	}
	return NULL;
}

static double skynet_rounds(struct bench_ctx *ctx, uint64_t n)
{
	uint64_t leaves = ctx->threads;
	int64_t wall = bench_wall_now(), begin = bench_now(ctx);
	double ns;

	for (uint64_t i = 0; i < n; i++) {
		struct skynet_node root = { .leaves = leaves };

		skynet_thread(&root);
		if (root.sum != leaves * (leaves - 1) / 2)
			bench_fail("skynet of %llu: %llu",
				   (unsigned long long)leaves,
				   (unsigned long long)root.sum);
	}
	ns = (double)(bench_now(ctx) - begin);
	forkjoin_wall = (bench_wall_now() - wall) / (int64_t)n;
	return ns;
}

static void skynet(struct bench_ctx *ctx)
{
	uint64_t leaves = ctx->threads;

	for (uint64_t n = leaves; n != 1; n /= SKYNET_FAN)
		if (n % SKYNET_FAN || n == 0)
			bench_skip(ctx, "leaves must be a power of ten");
	/* Kernel threads all start before the first of them ends. */
	if (!FACE_IS_WEFT)
		bench_need_kernel_threads(ctx, leaves + leaves / 9);
	bench_emit(ctx, "", "ns",
		   bench_measure(ctx, 1, skynet_rounds) / (double)leaves);
	bench_emit(ctx, "-wall", "ns",
		   (double)forkjoin_wall / (double)leaves);
}

#endif
