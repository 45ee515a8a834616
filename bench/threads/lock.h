/* SPDX-License-Identifier: MIT */
/* threads/lock.h - what does a mutex cost that nobody else wants? */
#ifndef WEFT_BENCH_THREADS_LOCK_H
#define WEFT_BENCH_THREADS_LOCK_H

#include "face.h"

static double lock_rounds(struct bench_ctx *ctx, uint64_t n)
{
	struct face_mutex mutex;
	int64_t begin;

	must(face_mutex_init(&mutex, (unsigned)ctx->question->arg),
	     "mutex_init");
	begin = bench_now(ctx);
	for (uint64_t i = 0; i < n; i++) {
		must(face_lock(&mutex), "lock");
		must(face_unlock(&mutex), "unlock");
	}
	return (double)(bench_now(ctx) - begin);
}

static void lock_unlock(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "ns", bench_measure(ctx, 1000, lock_rounds));
}

#endif
