/* SPDX-License-Identifier: MIT */
/* atomic/object.c - the stack with an atomic object for a head */
#include "atomic/stack.h"

#include <stdlib.h>

struct atomic_ops atomic_ops;

struct node {
	alignas(128) _Atomic(struct node *) next;
};

/* 24 bytes of it, or the first 16. The tag makes an old head differ. */
struct head {
	struct node *top;
	uint64_t tag;
	uint64_t count;
};

struct arena {
	alignas(128) struct head head;
	struct node node[2 * CREW_MAX];
};

static inline void push(struct arena *a, struct node *n, size_t bytes)
{
	struct head old, new;

	memset(&old, 0, sizeof(old));
	atomic_ops.load(bytes, &a->head, &old, memory_order_acquire);
	do {
		store_relaxed(&n->next, old.top);
		new.top = n;
		new.tag = old.tag + 1;
		new.count = old.count + 1;
	} while (!atomic_ops.cas(bytes, &a->head, &old, &new,
				 memory_order_acq_rel, memory_order_acquire));
}

static inline struct node *pop(struct arena *a, size_t bytes)
{
	struct head old, new;

	memset(&old, 0, sizeof(old));
	atomic_ops.load(bytes, &a->head, &old, memory_order_acquire);
	do {
		if (!old.top)
			return NULL;
		new.top = load_relaxed(&old.top->next);
		new.tag = old.tag + 1;
		new.count = old.count - 1;
	} while (!atomic_ops.cas(bytes, &a->head, &old, &new,
				 memory_order_acq_rel, memory_order_acquire));
	return old.top;
}

/* Two nodes a thread: the stack never runs empty. */
static inline void take_and_put(struct crew_member *me, size_t bytes)
{
	struct arena *a = me->crew->arg;

	while (!crew_is_over(me)) {
		struct node *n = pop(a, bytes);

		if (!n)
			bench_fail("the stack has lost elements");
		push(a, n, bytes);
		me->turns += 2;
	}
}

static void body24(struct crew_member *me)
{
	take_and_put(me, 24);
}

static void body16(struct crew_member *me)
{
	take_and_put(me, 16);
}

static void body_load(struct crew_member *me)
{
	struct arena *a = me->crew->arg;
	struct head h;

	while (!crew_is_over(me)) {
		atomic_ops.load(24, &a->head, &h, memory_order_acquire);
		if (h.tag != h.count)
			bench_fail("a load of two halves");
		me->turns++;
	}
}

static void body_store(struct crew_member *me)
{
	struct arena *a = me->crew->arg;
	struct head h = { NULL, me->index, me->index };

	while (!crew_is_over(me)) {
		atomic_ops.store(24, &a->head, &h, memory_order_release);
		me->turns++;
	}
}

static void run(struct bench_ctx *ctx, void (*body)(struct crew_member *me),
		int is_stack, size_t bytes)
{
	struct crew *crew = aligned_alloc(128, sizeof(*crew));
	struct arena *a = aligned_alloc(128, sizeof(*a));
	size_t left = 0;

	if (!crew || !a)
		bench_fail("out of memory");
	memset(a, 0, sizeof(*a));
	crew->arg = a;
	for (unsigned i = 0; is_stack && i < 2 * ctx->threads; i++)
		push(a, &a->node[i], bytes);
	crew_run(crew, ctx, ctx->threads, ctx->target_ns / 8, body);
	crew_run(crew, ctx, ctx->threads, ctx->target_ns, body);
	while (is_stack && pop(a, bytes))
		left++;
	if (is_stack && left != 2 * ctx->threads)
		bench_fail("%zu elements left of %u", left, 2 * ctx->threads);
	bench_emit(ctx, "", "M/s", (double)crew_turns(crew) * 1e3 / crew->ns);
	bench_emit(ctx, "-fairness", "share", (double)crew_least(crew) *
		   ctx->threads / (double)crew_turns(crew));
	free(a);
	free(crew);
}

static void run_stack24(struct bench_ctx *ctx)
{
	run(ctx, body24, 1, 24);
}

static void run_stack16(struct bench_ctx *ctx)
{
	run(ctx, body16, 1, 16);
}

static void run_load24(struct bench_ctx *ctx)
{
	run(ctx, body_load, 0, 24);
}

static void run_store24(struct bench_ctx *ctx)
{
	run(ctx, body_store, 0, 24);
}

const struct bench_body atomic_object_bodies[] = {
	{ "stack24", run_stack24 },
	{ "stack16", run_stack16 },
	{ "load24", run_load24 },
	{ "store24", run_store24 },
	{ NULL, NULL },
};
