/* SPDX-License-Identifier: MIT */
/* bench-threads - what do threads cost? Each body's header has its question */
#include <string.h>

#include "results.h"
#include "threads/threads.h"
#include "weft/mutex.h"

static const struct bench_case cases[] = {
	{ .name = "yield", .threads = { 2, 1000, 10000 } },
	{ .name = "spawn-join" },
	{ .name = "fan-out", .threads = { 10000 } },
	{ .name = "fib" },
	{ .name = "skynet", .threads = { 1000, 1000000 } },
	{ .name = "sem-pingpong" },
	{ .name = "cond-pingpong" },
	{ .name = "pairs", .threads = { 1000, 10000, 100000 }, .vcpus_max = 1 },
	{ .name = "wake-park" },
	/* On one VCPU it would measure the length of a slice. */
	{ .name = "wake-idle", .vcpus_min = 2 },
	{ .name = "beside-computing", .vcpus_max = 1 },
	{ .name = "beside-blocked", .vcpus_max = 1,
	  .slow = "each sample blocks for 60 ms" },
	{ .name = "lock", .body = "lock", .arg = WEFT_MUTEX_ADAPTIVE,
	  .vcpus_max = 1 },
	{ .name = "lock-strict", .body = "lock", .arg = WEFT_MUTEX_STRICT,
	  .vcpus_max = 1 },
	{ .name = "parked", .threads = { 10000, 100000 }, .vcpus_max = 1 },
	{ .name = "parked-million", .body = "parked", .threads = { 1000000 },
	  .vcpus_max = 1, .slow = "needs up to 9 GB" },
	{ .name = "start" },
	{ .name = "sleepers", .threads = { 1000, 10000, 100000 }, .vcpus_max = 1,
	  .slow = "each sample takes 3 s and more" },
	{ .name = NULL },
};

static const struct bench_variant *const variants[] = {
	&bench_threads_light, &bench_threads_tls, &bench_threads_preload,
	&bench_threads_pthreads, NULL,
};

static const unsigned vcpus[] = { 1, 2, 0 };

/* How many times faster on two VCPUs, repetition by repetition. */
static void speedup(struct bench_results *r, const char *from, const char *to)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct bench_result *one = &r->result[i];
		const struct bench_result *two;
		unsigned n, threads = one->threads;
		const char *variant = one->variant;

		if (one->vcpus != 1 || strcmp(one->bench, from))
			continue;
		two = bench_results_find(r, from, variant, 2, threads);
		if (!two)
			continue;
		n = one->n < two->n ? one->n : two->n;
		for (unsigned rep = 0; rep < n; rep++)
			/* Adding may move the array. */
			bench_results_add(r, to, "times", variant, 2, threads,
				r->result[i].value[rep] /
				bench_results_find(r, from, variant, 2,
						   threads)->value[rep]);
	}
}

static void derive(struct bench_results *r)
{
	speedup(r, "fib-wall", "fib-speedup");
	speedup(r, "skynet-wall", "skynet-speedup");
}

int main(int argc, char **argv)
{
	static const struct bench_suite suite = {
		.name = "threads",
		.about = "What threads cost: start, switch, wait, wake, "
			 "memory; weft's against Linux's.",
		.cases = cases,
		.variants = variants,
		.vcpus = vcpus,
		.target_ms = 200,
		.derive = derive,
	};

	return bench_main(argc, argv, &suite);
}
