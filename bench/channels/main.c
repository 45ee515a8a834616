/* SPDX-License-Identifier: MIT */
/* bench-channels - what do messages cost? Each case is told in bodies.h */
#include "channels/channels.h"

static const struct bench_case cases[] = {
	{ .name = "rendezvous" },
	{ .name = "round-trip-2" },
	{ .name = "one-to-one" },
	{ .name = "stream" },
	{ .name = "four-to-four" },
	{ .name = "sieve", .not_for = BENCH_NOT_PTHREADS },
	{ .name = "sieve-2", .not_for = BENCH_NOT_PTHREADS },
	{ .name = "short-pairs", .threads = { 1200 } },
	{ .name = "skynet", .threads = { 1000000 } },
	{ .name = "locked-skynet", .threads = { 1000000 } },
	{ .name = NULL },
};

static const struct bench_variant *const variants[] = {
	&bench_channels_light, &bench_channels_tls, &bench_channels_pthreads,
	&bench_channels_go, NULL,
};

static const unsigned vcpus[] = { 1, 2, 0 };

int main(int argc, char **argv)
{
	static const struct bench_suite suite = {
		.name = "channels",
		.about = "What messages cost: weft's channels against Go's, and "
			 "against a mutex with condition variables.",
		.cases = cases,
		.variants = variants,
		.vcpus = vcpus,
		.target_ms = 300,
	};

	return bench_main(argc, argv, &suite);
}
