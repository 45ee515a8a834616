/* SPDX-License-Identifier: MIT */
/* results.h - the figures of all samples, and the forms they are written in */
#ifndef WEFT_BENCH_RESULTS_H
#define WEFT_BENCH_RESULTS_H

#include "options.h"

/* One figure of one case by one variant, with its value in each repetition. */
struct bench_result {
	char bench[BENCH_NAME_MAX];
	char unit[BENCH_NAME_MAX];
	const char *variant;
	unsigned vcpus;
	unsigned threads;
	unsigned n;
	double *value;		/* in the order of the repetitions */
};

/* Why a case has no figure; skipped is no failure. */
struct bench_trouble {
	const char *bench;
	const char *variant;
	unsigned vcpus;
	unsigned threads;
	int skipped;
	char why[160];
};

struct bench_results {
	const struct bench_suite *suite;
	const struct bench_options *options;
	struct bench_result *result;
	size_t count;
	struct bench_trouble *trouble;
	size_t trouble_count;
	double others;		/* see bench_machine_others() */
	char date[32];		/* UTC, when the run began */
};

struct bench_spread {
	double median, min, max;
};

void bench_results_add(struct bench_results *r, const char *bench,
		       const char *unit, const char *variant, unsigned vcpus,
		       unsigned threads, double value);
const struct bench_result *bench_results_find(const struct bench_results *r,
		const char *bench, const char *variant, unsigned vcpus,
		unsigned threads);
void bench_results_trouble(struct bench_results *r,
			   const struct bench_trouble *trouble);
const struct bench_trouble *bench_results_trouble_of(
		const struct bench_results *r, const char *bench,
		const char *variant, unsigned vcpus, unsigned threads);
struct bench_spread bench_result_spread(const struct bench_result *result);
/* Is more of this unit better? -1: neither is */
int bench_unit_more_is_better(const char *unit);

/* 0, or -1 with a message on standard error. */
int bench_write_json(const struct bench_results *r, const char *path);
int bench_write_csv(const struct bench_results *r, const char *path);
void bench_print_table(const struct bench_results *r, FILE *out);

struct bench_machine {
	char cpu[128];
	char kernel[128];
	char compiler[128];
	unsigned cpus;		/* that this process may use */
	double load;		/* one-minute average when the run began */
};

void bench_machine_read(struct bench_machine *machine);

/*
 * How much of the CPUs' time processes that are not this run's have used since
 * the first call, which returns 0; 0 to 1. Wall times are worth little when it
 * is high.
 */
double bench_machine_others(void);

#endif
