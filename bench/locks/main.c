/* SPDX-License-Identifier: MIT */
/*
 * bench-locks - what do locks cost, and how should a table be locked?
 *
 * The figures that articles on locks give, on one CPU: a lock and an unlock
 * without contention, two wake-ups and two waits, a switch, and the hand-off of
 * a lock to a waiter. Then their advice: a hash table on two CPUs, under one
 * lock or many.
 */
#include "locks/locks.h"
#include "weft/mutex.h"

static const struct bench_case cases[] = {
	{ .name = "lock", .arg = WEFT_MUTEX_ADAPTIVE, .vcpus_max = 1 },
	{ .name = "round-trip", .vcpus_max = 1 },
	{ .name = "cond-round-trip", .vcpus_max = 1 },
	{ .name = "yield", .threads = { 2 }, .vcpus_max = 1 },
	{ .name = "hand-off", .arg = WEFT_MUTEX_STRICT, .vcpus_max = 1 },
	{ .name = "table", .threads = { 1, 2, 4, 8, 16, 32, 64 },
	  .vcpus_min = 2 },
	{ .name = NULL },
};

static const unsigned vcpus[] = { 1, 2, 0 };

int main(int argc, char **argv)
{
	static const struct bench_variant *variants[32] = {
		&bench_locks_pthreads, &bench_locks_futex, &bench_locks_light,
		&bench_locks_tls,
	};
	struct bench_suite suite = {
		.name = "locks",
		.about = "What locks, wake-ups and switches cost.",
		.cases = cases,
		.variants = variants,
		.base = "pthreads",
		.vcpus = vcpus,
		.target_ms = 100,
	};

	for (unsigned i = 0; bench_locks_tables[i]; i++)
		variants[4 + i] = bench_locks_tables[i];
	return bench_main(argc, argv, &suite);
}
