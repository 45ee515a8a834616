/* SPDX-License-Identifier: MIT */
/* sample.h - one sample in a process of its own */
#ifndef WEFT_BENCH_SAMPLE_H
#define WEFT_BENCH_SAMPLE_H

#include "results.h"

struct bench_sample {
	const struct bench_case *question;
	const struct bench_variant *variant;
	unsigned vcpus;
	unsigned threads;
};

/* The parent's side: 0, or -1 when the sample failed or was skipped. */
int bench_sample_take(struct bench_results *r, const struct bench_sample *s);

/* The child's side. */
__attribute__((noreturn)) void bench_sample_run(
		const struct bench_suite *suite,
		const struct bench_options *options);

const struct bench_body *bench_sample_body(const struct bench_variant *variant,
					   const struct bench_case *question);

#endif
