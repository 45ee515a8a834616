/* SPDX-License-Identifier: MIT */
/* slab/allocs.h - who gives out objects of 64 bytes, all through pointers */
#ifndef WEFT_BENCH_SLAB_ALLOCS_H
#define WEFT_BENCH_SLAB_ALLOCS_H

#include "bench.h"

#define OBJECT_BYTES	64u
#define OBJECTS		65536u	/* that those with a fixed pool have */

struct alloc_ops {
	void *(*take)(void);
	void (*give)(void *object);
};

extern struct alloc_ops alloc_ops;

/* Each fills alloc_ops in, and may skip the sample. */
void use_weft(struct bench_ctx *ctx);
void use_uslab(struct bench_ctx *ctx);
void use_tas(struct bench_ctx *ctx);
void use_ttas(struct bench_ctx *ctx);
void use_backoff(struct bench_ctx *ctx);
void use_mutex(struct bench_ctx *ctx);
void use_cas(struct bench_ctx *ctx);
void use_malloc(struct bench_ctx *ctx);
void use_jemalloc(struct bench_ctx *ctx);
void use_mimalloc(struct bench_ctx *ctx);

#endif
