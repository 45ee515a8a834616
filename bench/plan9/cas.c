/* SPDX-License-Identifier: MIT */
/*
 * plan9/cas.c - plan9-cas VARIANT CASE VCPUS WALL THREADS TARGET_NS
 *
 * How many compare-and-swaps the program of bodies.h takes for each operation
 * on a channel. If CASE is rmw-*, other atomic instructions that write are
 * counted. The count has the starts, switches and ends of its threads, too.
 * With kernel threads it has what weft and the channels do, and not what libc
 * and the kernel do. A program of its own: its copy of the library counts,
 * which would cost the others time.
 */
#include <stdlib.h>
#include <string.h>

#include "lockfree/count.h"
#include "plan9/talk.h"

#define ROUNDS		10	/* of the body */
#define OPERATIONS	20000	/* of a round */

_Atomic uint64_t wefti_count_cas, wefti_count_rmw;

static void (*run_rounds)(struct bench_ctx *ctx);
static _Atomic uint64_t *counter;

static void count(struct bench_ctx *ctx)
{
	uint64_t before;

	run_rounds(ctx);	/* so that nothing is used for the first time */
	before = atomic_load(counter);
	run_rounds(ctx);
	printf("%.3f %s\n", (double)(atomic_load(counter) - before) /
	       ROUNDS / OPERATIONS, ctx->question->name);
}

static uint64_t under(const char *name)
{
	static const char *const names[] = {
		[UNDER_NOTHING] = "free", [UNDER_SPIN] = "spin",
		[UNDER_GREASED] = "greased", [UNDER_MUTEX] = "mutex",
	};

	for (uint64_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return i;
	bench_fail("%s: no such channel", name);
}

static const struct bench_variant *variant_of(const char *name)
{
	static const struct bench_variant *const variants[] = {
		&bench_plan9_light, &bench_plan9_tls, &bench_plan9_pthreads,
	};

	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
		if (!strcmp(variants[i]->name, name))
			return variants[i];
	bench_fail("%s: no such variant", name);
}

int main(int argc, char **argv)
{
	static struct bench_case question = { .name = "CAS" };
	struct bench_ctx ctx = {
		.question = &question, .stack_bytes = 16384, .out = stdout,
	};
	const struct bench_variant *variant;

	if (argc < 6 || strlen(argv[2]) < 5)
		bench_fail("usage: plan9-cas VARIANT CASE VCPUS WALL THREADS");
	variant = variant_of(argv[1]);
	counter = &wefti_count_cas;
	if (!strncmp(argv[2], "rmw", 3)) {
		counter = &wefti_count_rmw;
		question.name = "RMW";
	}
	question.arg = under(argv[2] + 4);
	ctx.vcpus = (unsigned)atoi(argv[3]);
	ctx.threads = (unsigned)atoi(argv[5]);
	for (const struct bench_body *b = variant->bodies; b->name; b++)
		if (!strcmp(b->name, "rounds"))
			run_rounds = b->run;
	variant->enter(&ctx, count);
	return 0;
}
