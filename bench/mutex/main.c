/* SPDX-License-Identifier: MIT */
/* bench-mutex - what does a mutex let through that many threads want? */
#include "mutex/mutex.h"

#include "options.h"
#include "work.h"

#define UNIT_NS		5.0
#define STEPS		200000

#define GREEN	BENCH_NOT_PTHREADS
#define KERNEL	(BENCH_NOT_LIGHT | BENCH_NOT_TLS)
#define THREADS	{ 1, 2, 4, 8, 16, 32, 64 }

#define CASE(outside, policy, policy_arg, who)				\
	{ .name = "mutex-1:" #outside "-" policy, .body = "contend",	\
	  .group = "mutex-1:" #outside, .threads = THREADS,		\
	  .not_for = (who), .arg = MUTEX_ARG(policy_arg, outside) }

static const struct bench_case cases[] = {
	CASE(1, "strict", POLICY_STRICT, GREEN),
	CASE(1, "adaptive", POLICY_ADAPTIVE, GREEN),
	CASE(1, "spin", POLICY_SPIN, GREEN),
	CASE(1, "paper", POLICY_PAPER, GREEN),
	CASE(1, "linux", POLICY_LINUX, KERNEL),
	CASE(1000, "strict", POLICY_STRICT, GREEN),
	CASE(1000, "adaptive", POLICY_ADAPTIVE, GREEN),
	CASE(1000, "spin", POLICY_SPIN, GREEN),
	CASE(1000, "paper", POLICY_PAPER, GREEN),
	CASE(1000, "linux", POLICY_LINUX, KERNEL),
	CASE(1000, "none", POLICY_NONE, BENCH_NOT_TLS),
	{ .name = NULL },
};

static const struct bench_variant *const variants[] = {
	&bench_mutex_light, &bench_mutex_tls, &bench_mutex_pthreads, NULL,
};

static const unsigned vcpus[] = { 1, 2, 4, 8, 16, 0 };

/* The shortest of many tries: nothing but the chain itself is in it. */
static double step_ns(void)
{
	double best = 1e9;
	uint64_t x = 1;

	for (int i = 0; i < 50; i++) {
		int64_t begin = bench_wall_now();
		double ns;

		x = bench_work(x, STEPS);
		ns = (double)(bench_wall_now() - begin) / STEPS;
		best = ns < best ? ns : best;
	}
	return x ? best : 0;
}

/* All samples of a run get the same unit. */
static void calibrate(struct bench_options *options)
{
	double step = step_ns();
	unsigned steps = (unsigned)(UNIT_NS / step + 0.5);

	options->unit_steps = steps ? steps : 1;
	options->unit_ns = step * options->unit_steps;
	printf("A unit of work is %u steps of a dependent chain: %.2f ns.\n",
	       options->unit_steps, options->unit_ns);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct bench_suite suite = {
		.name = "mutex",
		.about = "The experiment of the LFthreads paper: threads "
			 "compete for a critical section.",
		.cases = cases,
		.variants = variants,
		.vcpus = vcpus,
		/*
		 * One and the same point varies by a quarter from sample to
		 * sample where neighbours share the machine: many; but of 100 ms
		 * the beginning, when one thread is alone, is too great a part.
		 */
		.target_ms = 150,
		.quick_ms = 75,
		.reps = 10,
		.prepare = calibrate,
	};

	return bench_main(argc, argv, &suite);
}
