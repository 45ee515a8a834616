/* SPDX-License-Identifier: MIT */
/*
 * mutex/bodies.h - the body of the suite, for the variant that includes it
 *
 * The experiment of the LFthreads paper: some threads want one mutex, each
 * locks it, does a unit of work on what it protects, unlocks, and does some
 * units of its own outside. How many times a second does that succeed, and does
 * everybody get a turn?
 */
#ifndef WEFT_BENCH_MUTEX_BODIES_H
#define WEFT_BENCH_MUTEX_BODIES_H

#include <stdalign.h>
#include <stdlib.h>

#include "enter.h"
#include "mutex/mutex.h"
#include "span.h"
#include "work.h"
#if FACE_IS_WEFT
# include "mutex/rho.h"
# include "mutex/spinmutex.h"
#endif

/* Two cache lines, which are fetched together. */
#define BENCH_LINE	128

struct arena {
	alignas(BENCH_LINE) union {
		struct face_mutex face;
#if FACE_IS_WEFT
		struct bench_spin_mutex spin;
		struct bench_rho rho;
#endif
	} mutex;
	/* Under the mutex. */
	alignas(BENCH_LINE) uint64_t state;
	uint64_t entered;

	alignas(BENCH_LINE) const struct bench_ctx *ctx;
	struct span span;
	uint64_t inside, outside;	/* steps of work */
	uint64_t clock_mask;		/* look at the clock when (turn & mask)
					 * is 0 */
	_Atomic int64_t deadline;	/* 0: nobody has begun */
	int64_t length_ns;
	_Atomic int hogs_stop;
};

struct contender {
	alignas(BENCH_LINE) struct arena *arena;
	uint64_t turns;
	face_thread id;
};

#define ALWAYS_INLINE_	static inline __attribute__((always_inline))

ALWAYS_INLINE_ void arena_lock(struct arena *a, enum mutex_policy policy)
{
#if FACE_IS_WEFT
	if (policy == POLICY_SPIN) {
		must(bench_spin_lock(&a->mutex.spin), "lock");
		return;
	}
	if (policy == POLICY_PAPER) {
		bench_rho_lock(&a->mutex.rho);
		return;
	}
#endif
	if (policy != POLICY_NONE)
		must(face_lock(&a->mutex.face), "lock");
}

ALWAYS_INLINE_ void arena_unlock(struct arena *a, enum mutex_policy policy)
{
#if FACE_IS_WEFT
	if (policy == POLICY_SPIN) {
		must(bench_spin_unlock(&a->mutex.spin), "unlock");
		return;
	}
	if (policy == POLICY_PAPER) {
		bench_rho_unlock(&a->mutex.rho);
		return;
	}
#endif
	if (policy != POLICY_NONE)
		must(face_unlock(&a->mutex.face), "unlock");
}

/* The deadline is counted from the first thread that gets here. */
static int64_t arena_begin(struct arena *a)
{
	int64_t nobody = 0;

	span_begin(&a->span);
	/* Relaxed: the number is all that is handed over. */
	if (load_relaxed(&a->deadline) == 0)
		cas_relaxed(&a->deadline, &nobody,
			    bench_wall_now() + a->length_ns);
	return load_relaxed(&a->deadline);
}

ALWAYS_INLINE_ void contend(struct contender *me, enum mutex_policy policy)
{
	struct arena *a = me->arena;
	uint64_t own = 1, turns = 0, mask = a->clock_mask;
	uint64_t inside = a->inside, outside = a->outside;
	int64_t deadline = arena_begin(a);

	do {
		arena_lock(a, policy);
		/*
		 * One chain through both: or the CPU would do the work inside
		 * and the work outside at the same time.
		 */
		if (policy != POLICY_NONE) {
			own = bench_work(a->state ^ own, inside);
			a->state = own;
			a->entered++;
		} else {
			own = bench_work(own, inside);
		}
		arena_unlock(a, policy);
		own = bench_work(own, outside);
		turns++;
	} while ((turns & mask) || bench_wall_now() < deadline);
	me->turns = turns;
	span_end(&a->span);
}

#define CONTENDER(name, policy)				\
	static void *contender_##name(void *arg)	\
	{						\
		contend(arg, policy);			\
		return NULL;				\
	}

/* Both of weft's policies and Linux's one are calls of the face. */
CONTENDER(face, POLICY_ADAPTIVE)
CONTENDER(none, POLICY_NONE)
#if FACE_IS_WEFT
CONTENDER(spin, POLICY_SPIN)
CONTENDER(paper, POLICY_PAPER)
#endif

static void *arena_hog(void *arg)
{
	struct arena *a = arg;
	uint64_t x = 1;

	/* Relaxed: it ends some time after it was told to. */
	while (!load_relaxed(&a->hogs_stop))
		x = bench_work(x, 1000);
	return NULL;
}

static void *(*contender_of(enum mutex_policy policy))(void *)
{
	switch (policy) {
	case POLICY_NONE: return contender_none;
#if FACE_IS_WEFT
	case POLICY_SPIN: return contender_spin;
	case POLICY_PAPER: return contender_paper;
#endif
	default: return contender_face;
	}
}

static void arena_init(struct arena *a, const struct bench_ctx *ctx,
		       int64_t length_ns)
{
	enum mutex_policy policy = ctx->question->arg & 0xff;
	uint64_t units = ctx->question->arg >> 8;

	memset(a, 0, sizeof(*a));
	a->ctx = ctx;
	a->length_ns = length_ns;
	a->inside = ctx->unit_steps;
	a->outside = ctx->unit_steps * units;
	/* About a look a microsecond at most, it costs some 20 ns. */
	a->clock_mask = units > 100 ? 0 : 63;
	span_init(&a->span, ctx, ctx->threads);
	if (policy == POLICY_ADAPTIVE || policy == POLICY_STRICT ||
	    policy == POLICY_LINUX)
		must(face_mutex_init(&a->mutex.face, policy), "mutex_init");
}

static void arena_run(struct arena *a, struct contender *crew)
{
	const struct bench_ctx *ctx = a->ctx;
	enum mutex_policy policy = ctx->question->arg & 0xff;
	unsigned hogs = strcmp(ctx->preempt, "threads") ? 0 : ctx->vcpus;
	face_thread *hog = calloc(hogs + 1, sizeof(*hog));
	uint64_t sum = 0;

	if (!hog)
		bench_fail("out of memory");
	for (unsigned i = 0; i < hogs; i++)
		must(face_spawn(&hog[i], arena_hog, a), "spawn");
	for (unsigned i = 0; i < ctx->threads; i++) {
		crew[i].arena = a;
		must(face_spawn(&crew[i].id, contender_of(policy), &crew[i]),
		     "spawn");
	}
	for (unsigned i = 0; i < ctx->threads; i++) {
		must(face_join(crew[i].id), "join");
		sum += crew[i].turns;
	}
	store_relaxed(&a->hogs_stop, 1);
	for (unsigned i = 0; i < hogs; i++)
		must(face_join(hog[i]), "join");
	free(hog);
	if (policy != POLICY_NONE && sum != a->entered)
		bench_fail("the mutex let two in: %llu turns, %llu counted",
			   (unsigned long long)sum,
			   (unsigned long long)a->entered);
}

static void arena_emit(struct arena *a, const struct contender *crew)
{
	struct bench_ctx *ctx = (struct bench_ctx *)a->ctx;
	uint64_t sum = 0, least = UINT64_MAX;

	for (unsigned i = 0; i < ctx->threads; i++) {
		sum += crew[i].turns;
		if (crew[i].turns < least)
			least = crew[i].turns;
	}
	bench_emit(ctx, "", "M/s", (double)sum * 1e3 / span_ns(&a->span));
	bench_emit(ctx, "-fairness", "share",
		   (double)least * ctx->threads / (double)sum);
}

static void mutex_contend(struct bench_ctx *ctx)
{
	size_t bytes = ctx->threads * sizeof(struct contender);
	struct contender *crew = aligned_alloc(BENCH_LINE, bytes);
	struct arena *a = aligned_alloc(BENCH_LINE, sizeof(*a));

	if (!crew || !a)
		bench_fail("out of memory");
	memset(crew, 0, bytes);
	arena_init(a, ctx, ctx->target_ns / 8);		/* warm-up */
	arena_run(a, crew);
	arena_init(a, ctx, ctx->target_ns);
	bench_part_begin();
	arena_run(a, crew);
	bench_part_end(span_ns(&a->span));
	arena_emit(a, crew);
	free(a);
	free(crew);
}

static void mutex_enter(struct bench_ctx *ctx,
			void (*run)(struct bench_ctx *ctx))
{
	mutex_hogs_begin(ctx);
	face_enter(ctx, run);
	mutex_hogs_end();
}

static const struct bench_body mutex_bodies[] = {
	{ "contend", mutex_contend },
	{ NULL, NULL },
};

const struct bench_variant FACE_SYMBOL(bench_mutex_) = {
	.name = FACE_TEXT(FACE_NAME),
	.bit = FACE_BIT,
	.enter = mutex_enter,
	.bodies = mutex_bodies,
};

#endif
