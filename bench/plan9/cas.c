/* SPDX-License-Identifier: MIT */
/*
 * plan9/cas.c - plan9-cas VARIANT CASE VCPUS WALL THREADS TARGET_NS
 *
 * How many compare-and-swaps (or, CASE is rmw-*, other atomic instructions that
 * write) the program of bodies.h takes for each operation on a channel, all of
 * it counted: the starts, switches and ends of its threads, too. A program of its
 * own: its copy of the library counts, which would cost the others time.
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
		[UNDER_GREASED] = "greased",
	};

	for (uint64_t i = 0; i < 3; i++)
		if (!strcmp(name, names[i]))
			return i;
	bench_fail("%s: no such channel", name);
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
	variant = !strcmp(argv[1], "light") ? &bench_plan9_light :
					      &bench_plan9_tls;
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
