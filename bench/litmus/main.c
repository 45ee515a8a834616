/* SPDX-License-Identifier: MIT */
/*
 * bench-litmus - which orders of memory does this machine show?
 *
 * Five small programs through weft's own atomics, in three orders. Counted is
 * how often in a million trials the outcome comes that only a weak order
 * allows; beside it stands what x86-64 and AArch64 allow by their manuals. What
 * C11 forbids and is seen all the same means that the atomics are broken: the
 * sample fails.
 */
#include <stdlib.h>

#include "litmus/litmus.h"
#include "results.h"

#define OFTEN	32u	/* looks at the others before the CPU is given away */

/* What an architecture allows with the instructions that compilers choose. */
struct allowed {
	const char *test;
	const char *x86_64[LITMUS_ORDERS];
	const char *aarch64[LITMUS_ORDERS];
	int by_c11[LITMUS_ORDERS];
};

/* With ldar an acquire does not pass a release before it; with ldapr it may. */
static const struct allowed allowed[] = {
	{ "sb", { "yes", "yes", "no" }, { "yes", "by ldapr", "no" },
	  { 1, 1, 0 } },
	{ "mp", { "no", "no", "no" }, { "yes", "no", "no" }, { 1, 0, 0 } },
	{ "lb", { "no", "no", "no" }, { "yes", "no", "no" }, { 1, 0, 0 } },
	{ "iriw", { "no", "no", "no" }, { "yes", "no", "no" }, { 1, 1, 0 } },
	{ "lock", { "no", "no", "no" }, { "yes", "no", "no" }, { 1, 0, 0 } },
};

struct arena {
	const struct litmus_test *test;
	unsigned parts;
	struct litmus_place place[LITMUS_PLACES];
	alignas(128) _Atomic uint64_t arrived;
	alignas(128) _Atomic uint64_t stop;	/* a round's number, 0: none */
	uint64_t weak;
	uint64_t trials;
};

/* All members of the crew come here, and go on together. */
static void meet(struct arena *a, uint64_t *meetings)
{
	uint64_t all = ++*meetings * a->parts;

	fetch_add_seq_cst(&a->arrived, UINT64_C(1));
	for (unsigned i = 1; load_seq_cst(&a->arrived) < all; i++)
		if (i % OFTEN == 0)
			sched_yield();
}

static void clear(struct arena *a)
{
	for (unsigned i = 0; i < LITMUS_PLACES; i++) {
		struct litmus_place *p = &a->place[i];

		store_relaxed(&p->x, 0u);
		store_relaxed(&p->y, 0u);
		memset(p->read, 0, sizeof(p->read));
	}
}

static void count(struct arena *a)
{
	for (unsigned i = 0; i < LITMUS_PLACES; i++)
		a->weak += a->test->is_weak(&a->place[i]) != 0;
	a->trials += LITMUS_PLACES;
}

/* The first member prepares and counts, and says which round is the last. */
static void member(struct crew_member *me)
{
	struct arena *a = me->crew->arg;
	void (*part)(struct litmus_place *p) = a->test->part[me->index];
	uint64_t meetings = 0;

	crew_pin(me->index % bench_cpus());
	for (;;) {
		if (me->index == 0) {
			clear(a);
			if (crew_is_over(me))
				store_seq_cst(&a->stop, UINT64_C(1));
		}
		meet(a, &meetings);
		if (load_seq_cst(&a->stop))
			return;
		for (unsigned i = 0; i < LITMUS_PLACES; i++)
			part(&a->place[i]);
		meet(a, &meetings);
		if (me->index == 0)
			count(a);
	}
}

static void run(struct bench_ctx *ctx, const struct litmus_test *tests,
		enum litmus_order order)
{
	struct crew *crew = aligned_alloc(128, sizeof(*crew));
	struct arena *a = aligned_alloc(128, sizeof(*a));

	if (!crew || !a)
		bench_fail("no memory");
	memset(a, 0, sizeof(*a));
	a->test = &tests[order];
	a->parts = a->test->parts;
	crew->arg = a;
	crew_run(crew, ctx, a->parts, ctx->target_ns, member);
	if (a->weak && !allowed[ctx->question->arg].by_c11[order])
		bench_fail("C11 forbids what was seen %llu times",
			   (unsigned long long)a->weak);
	bench_emit(ctx, "", "times",
		   (double)a->weak * 1e6 / (double)a->trials);
	free(a);
	free(crew);
}

static const struct bench_case cases[] = {
	{ .name = "sb", .arg = 0 },
	{ .name = "mp", .arg = 1 },
	{ .name = "lb", .arg = 2 },
	{ .name = "iriw", .arg = 3 },
	{ .name = "lock", .arg = 4 },
	{ .name = NULL },
};

static void enter(struct bench_ctx *ctx, void (*body)(struct bench_ctx *))
{
	bench_pin(ctx->vcpus);
	body(ctx);
}

#define BODY(name, order, constant)					\
	static void name##_##order(struct bench_ctx *ctx)		\
	{								\
		run(ctx, litmus_##name, constant);			\
	}

#define VARIANT(order, text, constant)					\
	BODY(sb, order, constant)					\
	BODY(mp, order, constant)					\
	BODY(lb, order, constant)					\
	BODY(iriw, order, constant)					\
	BODY(lock, order, constant)					\
									\
	static const struct bench_body order##_bodies[] = {		\
		{ "sb", sb_##order }, { "mp", mp_##order },		\
		{ "lb", lb_##order }, { "iriw", iriw_##order },		\
		{ "lock", lock_##order }, { NULL, NULL },		\
	};								\
									\
	static const struct bench_variant order##_variant = {		\
		text, 0, enter, order##_bodies,				\
	};

VARIANT(relaxed, "relaxed", LITMUS_RELAXED)
VARIANT(acq_rel, "acq-rel", LITMUS_ACQ_REL)
VARIANT(seq_cst, "seq-cst", LITMUS_SEQ_CST)

static const struct bench_variant *const variants[] = {
	&relaxed_variant, &acq_rel_variant, &seq_cst_variant, NULL,
};

static void print_allowed(struct bench_results *r)
{
	printf("\n%-6s %-8s %8s %9s  %s\n", "test", "order", "x86-64",
	       "AArch64", "seen here, in a million");
	for (unsigned t = 0; t < sizeof(allowed) / sizeof(allowed[0]); t++)
		for (unsigned o = 0; o < LITMUS_ORDERS; o++) {
			const struct bench_result *seen = bench_results_find(r,
				allowed[t].test, variants[o]->name, 2, 0);

			if (seen)
				printf("%-6s %-8s %8s %9s  %.3g\n",
				       allowed[t].test, variants[o]->name,
				       allowed[t].x86_64[o],
				       allowed[t].aarch64[o],
				       bench_result_spread(seen).median);
		}
}

static const unsigned vcpus[] = { 2, 0 };

int main(int argc, char **argv)
{
	static const struct bench_suite suite = {
		.name = "litmus",
		.about = "Small programs whose outcome shows memory orders.",
		.cases = cases,
		.variants = variants,
		.base = "relaxed",
		.vcpus = vcpus,
		.target_ms = 300,
		.derive = print_allowed,
	};

	return bench_main(argc, argv, &suite);
}
