/* SPDX-License-Identifier: MIT */
/* bench-preload - what does `weft run' do to whole programs? */
#include "preload/preload.h"

#define FIXED(text)	{ .name = (text), .body = "fixed" }

static const struct bench_case cases[] = {
	FIXED("pigz"), FIXED("pbzip2"), FIXED("xz"), FIXED("zstd"),
	FIXED("primecount"), FIXED("stockfish"),
	FIXED("sysbench-threads"), FIXED("sysbench-mutex"),
	FIXED("hackbench"), FIXED("hackbench-pipe"),
	{ .name = "create" },
	{ .name = "teams", .threads = { 2, 8, 32 } },
	{ .name = "teams-passive", .threads = { 2, 8, 32 } },
	{ .name = "echo", .threads = { 1000 } },
	{ .name = "memcached", .threads = { 50 } },
	{ .name = "redis", .threads = { 50 } },
	{ .name = "mariadb", .threads = { 16 } },
	{ .name = "idle", .threads = { 10000 } },
	{ .name = NULL },
};

extern const struct bench_variant preload_stock, preload_weft;

static const struct bench_variant *const variants[] = {
	&preload_stock, &preload_weft, NULL,
};

static const unsigned vcpus[] = { 2, 0 };

int main(int argc, char **argv)
{
	static const struct bench_suite suite = {
		.name = "preload",
		.about = "Whole programs with their pthreads as they are "
			 "(pthreads), and by `weft run'.",
		.cases = cases,
		.variants = variants,
		.vcpus = vcpus,
		.target_ms = 3000,
	};

	return bench_main(argc, argv, &suite);
}
