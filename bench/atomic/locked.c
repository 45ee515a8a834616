/* SPDX-License-Identifier: MIT */
/* atomic/locked.c - the same stack under a pthread mutex or a TTAS spin lock */
#include "atomic/stack.h"

#include <stdlib.h>

#include "cpu.h"

struct node {
	alignas(128) struct node *next;
};

struct arena {
	alignas(128) union {
		pthread_mutex_t mutex;
		_Atomic int spin;
	} lock;
	struct node *top;
	uint64_t count;
	struct node node[2 * CREW_MAX];
};

/* Test, then test and set. Gives the CPU away now and then: the owner may want it. */
static inline void spin_lock(_Atomic int *lock)
{
	for (unsigned n = 1;; n++) {
		if (!load_relaxed(lock) && !xchg_acquire(lock, 1))
			return;
		wefti_arch_pause();
		if (n % 1024 == 0)
			sched_yield();
	}
}

static inline void lock(struct arena *a, int spins)
{
	if (spins)
		spin_lock(&a->lock.spin);
	else
		pthread_mutex_lock(&a->lock.mutex);
}

static inline void unlock(struct arena *a, int spins)
{
	if (spins)
		store_release(&a->lock.spin, 0);
	else
		pthread_mutex_unlock(&a->lock.mutex);
}

static inline void take_and_put(struct crew_member *me, int spins)
{
	struct arena *a = me->crew->arg;

	while (!crew_is_over(me)) {
		struct node *n;

		lock(a, spins);
		n = a->top;
		a->top = n->next;
		a->count--;
		unlock(a, spins);
		lock(a, spins);
		n->next = a->top;
		a->top = n;
		a->count++;
		unlock(a, spins);
		me->turns += 2;
	}
}

static void body_mutex(struct crew_member *me)
{
	take_and_put(me, 0);
}

static void body_ttas(struct crew_member *me)
{
	take_and_put(me, 1);
}

static void run(struct bench_ctx *ctx, void (*body)(struct crew_member *me),
		int spins)
{
	struct crew *crew = aligned_alloc(128, sizeof(*crew));
	struct arena *a = aligned_alloc(128, sizeof(*a));

	if (!crew || !a)
		bench_fail("out of memory");
	memset(a, 0, sizeof(*a));
	if (!spins)
		pthread_mutex_init(&a->lock.mutex, NULL);
	crew->arg = a;
	for (unsigned i = 0; i < 2 * ctx->threads; i++) {
		a->node[i].next = a->top;
		a->top = &a->node[i];
		a->count++;
	}
	crew_run(crew, ctx, ctx->threads, ctx->target_ns / 8, body);
	crew_run(crew, ctx, ctx->threads, ctx->target_ns, body);
	if (a->count != 2 * ctx->threads)
		bench_fail("%llu elements left", (unsigned long long)a->count);
	bench_emit(ctx, "", "M/s", (double)crew_turns(crew) * 1e3 / crew->ns);
	bench_emit(ctx, "-fairness", "share", (double)crew_least(crew) *
		   ctx->threads / (double)crew_turns(crew));
	free(a);
	free(crew);
}

static void run_mutex(struct bench_ctx *ctx)
{
	run(ctx, body_mutex, 0);
}

static void run_ttas(struct bench_ctx *ctx)
{
	run(ctx, body_ttas, 1);
}

const struct bench_body atomic_mutex_bodies[] = {
	{ "stack24", run_mutex },
	{ NULL, NULL },
};

const struct bench_body atomic_ttas_bodies[] = {
	{ "stack24", run_ttas },
	{ NULL, NULL },
};
