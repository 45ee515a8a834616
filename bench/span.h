/* SPDX-License-Identifier: MIT */
/*
 * span.h - the time from the first of some threads that begins to the last that
 * ends; their start and their end are not in it
 */
#ifndef WEFT_BENCH_SPAN_H
#define WEFT_BENCH_SPAN_H

#include "face.h"
#include "lockfree/atomic.h"

struct span {
	const struct bench_ctx *ctx;
	struct face_barrier barrier;
	_Atomic int64_t begin;		/* 0: nobody has begun */
	_Atomic unsigned left;
	int64_t end;			/* written by the last thread */
};

static inline void span_init(struct span *s, const struct bench_ctx *ctx,
			     unsigned threads)
{
	s->ctx = ctx;
	must(face_barrier_init(&s->barrier, threads), "barrier_init");
	atomic_init(&s->begin, 0);
	atomic_init(&s->left, threads);
	s->end = 0;
}

static inline void span_begin(struct span *s)
{
	int64_t nobody = 0;

	must(face_barrier_wait(&s->barrier), "barrier_wait");
	/* Relaxed: the number itself is all that is handed over. */
	if (load_relaxed(&s->begin) == 0)
		cas_relaxed(&s->begin, &nobody, bench_now(s->ctx));
}

static inline void span_end(struct span *s)
{
	if (fetch_sub_seq_cst(&s->left, 1) == 1)
		s->end = bench_now(s->ctx);
}

/* After all threads have been joined. */
static inline double span_ns(struct span *s)
{
	return (double)(s->end - load_relaxed(&s->begin));
}

#endif
