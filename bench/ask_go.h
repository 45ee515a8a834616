/* SPDX-License-Identifier: MIT */
/* ask_go.h - variants that are measured by a program in Go */
#ifndef WEFT_BENCH_ASK_GO_H
#define WEFT_BENCH_ASK_GO_H

#include "bench.h"

/*
 * Runs `program`, which make builds beside this one where there is a Go
 * compiler: PROGRAM QUESTION CPUS WALL THREADS TARGET_NS. It prints one figure
 * and its unit, which are handed over. Without it the sample is skipped.
 */
void bench_ask_go(struct bench_ctx *ctx, const char *program,
		  const char *question);

#endif
