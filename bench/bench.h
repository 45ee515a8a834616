/* SPDX-License-Identifier: MIT */
/*
 * bench.h - what a benchmark is: cases, variants, samples
 *
 * A suite is one program. It has cases (the questions) and variants (the kinds
 * of threads: light, tls, pthreads). A sample is one run of one case by one
 * variant, in a process of its own, since a runtime is started once and must
 * not inherit another variant's heap or stacks. The program runs itself for
 * that: the parent plans and collects, a child measures and writes its figures
 * to a pipe.
 */
#ifndef WEFT_BENCH_BENCH_H
#define WEFT_BENCH_BENCH_H

#include <stdint.h>
#include <stdio.h>

#define BENCH_LIST_MAX	16	/* entries of a list option */
#define BENCH_NAME_MAX	64

/* What the child is told, beside the case and the variant. */
struct bench_ctx {
	unsigned vcpus;
	unsigned threads;	/* the case's parameter; 0: it has none */
	int64_t target_ns;	/* how long the measured part should last */
	int timeout_s;		/* after which the sample is killed */
	size_t stack_bytes;
	unsigned unit_steps;	/* of work.h; 0 in suites that do no work */
	double unit_ns;
	const char *preempt;	/* "none", "threads" or "processes" */
	int wall;		/* 1: wall time, 0: process CPU time */
	const struct bench_case *question;
	FILE *out;
};

/* Variants that a case is not for. */
#define BENCH_NOT_LIGHT		1u
#define BENCH_NOT_TLS		2u
#define BENCH_NOT_PTHREADS	4u

struct bench_case {
	const char *name;
	const char *body;	/* which function of the variant; NULL: name */
	const char *group;	/* cases of a group are sampled in turns */
	unsigned threads[8];	/* values of the parameter, ended by 0 */
	unsigned vcpus_min;	/* 0: any */
	unsigned vcpus_max;	/* 0: any */
	unsigned not_for;	/* BENCH_NOT_* */
	uint64_t arg;		/* the suite's own */
	const char *slow;	/* not in --quick runs, and why; else NULL */
};

struct bench_body {
	const char *name;
	void (*run)(struct bench_ctx *ctx);
};

struct bench_variant {
	const char *name;
	unsigned bit;		/* its BENCH_NOT_* */
	/* Starts the runtime, runs the body in a thread of it, and stops it. */
	void (*enter)(struct bench_ctx *ctx, void (*run)(struct bench_ctx *));
	const struct bench_body *bodies;	/* ended by a NULL name */
};

struct bench_options;
struct bench_results;

struct bench_suite {
	const char *name;
	const char *about;
	const struct bench_case *cases;		/* ended by a NULL name */
	const struct bench_variant *const *variants;	/* ended by NULL */
	const unsigned *vcpus;			/* the default, ended by 0 */
	int target_ms;				/* the default */
	int quick_ms;		/* with --quick; 0: a quarter of it */
	unsigned reps;		/* the default; 0: 5 */
	const char *base;	/* the variant of the ratios; NULL: pthreads */
	void (*prepare)(struct bench_options *options);	/* may be NULL */
	void (*derive)(struct bench_results *results);	/* may be NULL */
};

int bench_main(int argc, char **argv, const struct bench_suite *suite);

/* For the child. */

/* Hands a figure over; metric is added to the case's name, and may be "". */
void bench_emit(struct bench_ctx *ctx, const char *metric, const char *unit,
		double value);

/* Ends the child: the case cannot be run here, which is no failure. */
__attribute__((noreturn, format(printf, 2, 3)))
void bench_skip(struct bench_ctx *ctx, const char *why, ...);

/* Ends the child: something returned what it must not. */
__attribute__((noreturn, format(printf, 1, 2)))
void bench_fail(const char *what, ...);

/* Nanoseconds of the clock that this sample is measured by. */
int64_t bench_now(const struct bench_ctx *ctx);
int64_t bench_wall_now(void);

/*
 * Runs body(ctx, n) with growing n until it lasts long enough to tell how many
 * are needed for the target time, which also warms everything up, then once
 * with that many. Body returns the nanoseconds that its n rounds took.
 *
 * Returns nanoseconds a round.
 */
double bench_measure(struct bench_ctx *ctx, uint64_t first_n,
		     double (*body)(struct bench_ctx *ctx, uint64_t n));

/*
 * Around the measured part, once in a sample; `ns` is how long it was. The build for
 * tools/coherence counts what happens in between, others do nothing.
 */
void bench_part_begin(void);
void bench_part_end(double ns);

/* Keeps the process on the first `count` CPUs that it may use. */
void bench_pin(unsigned count);
unsigned bench_cpus(void);

/* Ends the child by bench_skip() unless the system allows so many. */
void bench_need_kernel_threads(struct bench_ctx *ctx, uint64_t count);

#endif
