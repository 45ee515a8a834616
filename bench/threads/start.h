/* SPDX-License-Identifier: MIT */
/*
 * threads/start.h - what CPU time does a program use until its first thread has run?
 *
 * From the start of the process, with what the loader and the runtime's kernel threads
 * use. The kernel threads have some milliseconds to get ready.
 */
#ifndef WEFT_BENCH_THREADS_START_H
#define WEFT_BENCH_THREADS_START_H

#include <time.h>

#include "face.h"

#define START_SETTLES	INT64_C(20000000)

static void start(struct bench_ctx *ctx)
{
	struct timespec used;

	face_sleep(START_SETTLES);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	bench_emit(ctx, "", "ms", (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6);
}

#endif
