/* SPDX-License-Identifier: MIT */
/*
 * bench-slab - what does it cost to take an object and give it back?
 *
 * The experiment of "Racing to Win": each thread takes an object of 64 bytes,
 * writes to it, and gives it back, over and over. Threads are the kernel's. One
 * row counts pairs for each second of CPU time, so that what spinning threads
 * burn is counted against them. So do the random rows: there each thread has 64
 * objects, or 1,024, gives one of them back that is chosen at random, and takes
 * another. The others time each pair by the processor's counter, and the counter's
 * own cost is in them.
 */
#include <stdlib.h>

#include "cpu.h"
#include "crew.h"
#include "slab/allocs.h"

#define THREADS		{ 1, 2, 4, 8, 16, 32, 64 }
#define SAMPLES_MAX	(1u << 20)	/* of a thread */
#define BATCH		64
#define LIVE_MOST	1024u	/* objects of a thread */
#define NUMBERS		8192u	/* drawn beforehand */

struct alloc_ops alloc_ops;

static void take_and_give(struct crew_member *me)
{
	while (!crew_is_over(me)) {
		alloc_ops.pairs(BATCH);
		me->turns += BATCH;
	}
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void pairs(struct bench_ctx *ctx)
{
	static struct crew crew;
	double begin;

	crew_run(&crew, ctx, ctx->threads, ctx->target_ns / 4, take_and_give);
	begin = cpu_ns();
	crew_run(&crew, ctx, ctx->threads, ctx->target_ns, take_and_give);
	bench_emit(ctx, "", "M/s",
		   (double)crew_turns(&crew) * 1e3 / (cpu_ns() - begin));
}

/* --- objects that are given back in another order than they were taken */

struct live {
	void *object[LIVE_MOST];
	uint16_t number[NUMBERS];
	unsigned count;
};

static void replace(struct crew_member *me)
{
	struct live *l = me->own;
	unsigned at = 0;

	alloc_ops.fill(l->object, l->count);
	while (!crew_is_over(me)) {
		alloc_ops.replace(l->object, l->number + at, BATCH);
		at = (at + BATCH) % NUMBERS;
		me->turns += BATCH;
	}
	alloc_ops.empty(l->object, l->count);
}

static void draw(struct live *l, unsigned count, uint32_t seed)
{
	l->count = count;
	for (unsigned i = 0; i < NUMBERS; i++) {
		seed = seed * 1664525u + 1013904223u;
		l->number[i] = (uint16_t)((seed >> 16) % count);
	}
}

static void at_random(struct bench_ctx *ctx, unsigned count)
{
	static struct crew crew;
	struct live *all = malloc(ctx->threads * sizeof(*all));
	double begin;

	if (!all)
		bench_fail("no memory");
	for (unsigned i = 0; i < ctx->threads; i++) {
		draw(&all[i], count, i + 1);
		crew.member[i].own = &all[i];
	}
	crew_run(&crew, ctx, ctx->threads, ctx->target_ns / 4, replace);
	begin = cpu_ns();
	crew_run(&crew, ctx, ctx->threads, ctx->target_ns, replace);
	bench_emit(ctx, "", "M/s",
		   (double)crew_turns(&crew) * 1e3 / (cpu_ns() - begin));
	free(all);
}

static void random_64(struct bench_ctx *ctx)
{
	at_random(ctx, 64);
}

static void random_1024(struct bench_ctx *ctx)
{
	at_random(ctx, LIVE_MOST);
}

static void take_and_give_timed(struct crew_member *me)
{
	uint32_t *cycles = me->own;

	while (!crew_is_over(me) && me->turns < SAMPLES_MAX)
		cycles[me->turns++] = alloc_ops.timed();
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void latency(struct bench_ctx *ctx)
{
	static struct crew crew;
	int64_t begin_ns = bench_wall_now();
	uint64_t begin_cycles = wefti_arch_cycles();
	double ns;
	uint32_t *all = malloc((size_t)ctx->threads * SAMPLES_MAX * 4);
	size_t count = 0;

	if (!all)
		bench_fail("no memory");
	memset(all, 1, (size_t)ctx->threads * SAMPLES_MAX * 4);
	for (unsigned i = 0; i < ctx->threads; i++)
		crew.member[i].own = all + (size_t)i * SAMPLES_MAX;
	crew_run(&crew, ctx, ctx->threads, ctx->target_ns / 4,
		 take_and_give_timed);
	crew_run(&crew, ctx, ctx->threads, ctx->target_ns,
		 take_and_give_timed);
	ns = (double)(bench_wall_now() - begin_ns) /
	     (double)(wefti_arch_cycles() - begin_cycles);
	for (unsigned i = 0; i < ctx->threads; i++) {
		memmove(all + count, crew.member[i].own,
			crew.member[i].turns * 4);
		count += crew.member[i].turns;
	}
	qsort(all, count, 4, compare);
	bench_emit(ctx, "-p50", "ns", all[count / 2] * ns);
	bench_emit(ctx, "-p99", "ns", all[count / 100 * 99] * ns);
	bench_emit(ctx, "-p99.9", "ns", all[count / 1000 * 999] * ns);
	bench_emit(ctx, "-max", "ns", all[count - 1] * ns);
}

static const struct bench_case cases[] = {
	{ .name = "pair-64", .body = "pairs", .threads = THREADS },
	{ .name = "random-64", .body = "random64", .threads = { 1, 4, 16 } },
	{ .name = "random-1024", .body = "random1024", .threads = { 1, 4, 16 } },
	{ .name = "latency-64", .body = "latency", .threads = { 1, 4, 16 } },
	{ .name = NULL },
};

static const struct bench_body bodies[] = {
	{ "pairs", pairs },
	{ "random64", random_64 },
	{ "random1024", random_1024 },
	{ "latency", latency },
	{ NULL, NULL },
};

#define VARIANT(name, bit)						\
	static void enter_##name(struct bench_ctx *ctx,			\
				 void (*run)(struct bench_ctx *))	\
	{								\
		use_##name(ctx);					\
		bench_pin(ctx->vcpus);					\
		run(ctx);						\
	}								\
									\
	static const struct bench_variant name##_variant = {		\
		#name, 1u << (bit), enter_##name, bodies,		\
	};

VARIANT(uslab, 0)
VARIANT(weft, 1)
VARIANT(tas, 2)
VARIANT(ttas, 3)
VARIANT(backoff, 4)
VARIANT(mutex, 5)
VARIANT(cas, 6)
VARIANT(malloc, 7)
VARIANT(jemalloc, 8)
VARIANT(mimalloc, 9)
VARIANT(ticket, 10)
VARIANT(mcs, 11)
VARIANT(stack, 12)
VARIANT(istack, 13)

static const struct bench_variant *const variants[] = {
	&uslab_variant, &weft_variant, &tas_variant, &ttas_variant,
	&backoff_variant, &ticket_variant, &mcs_variant, &mutex_variant,
	&cas_variant, &stack_variant, &istack_variant, &malloc_variant,
	&jemalloc_variant, &mimalloc_variant, NULL,
};

static const unsigned vcpus[] = { 2, 0 };

int main(int argc, char **argv)
{
	static const struct bench_suite suite = {
		.name = "slab",
		.about = "Objects of 64 bytes are taken and given back.",
		.cases = cases,
		.variants = variants,
		.base = "uslab",
		.vcpus = vcpus,
		.target_ms = 100,
	};

	return bench_main(argc, argv, &suite);
}
