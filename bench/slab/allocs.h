/* SPDX-License-Identifier: MIT */
/* slab/allocs.h - allocators of objects of 64 bytes, in loops of one shape */
#ifndef WEFT_BENCH_SLAB_ALLOCS_H
#define WEFT_BENCH_SLAB_ALLOCS_H

#include "bench.h"
#include "cpu.h"

#define OBJECT_BYTES	64u
#define OBJECTS		65536u	/* that those with a fixed pool have */

struct alloc_ops {
	void (*pairs)(unsigned count);
	uint32_t (*timed)(void);	/* one pair; in cycles */
	/* Gives back the objects of these numbers, and takes another for each. */
	void (*replace)(void **live, const uint16_t *number, unsigned count);
	void (*fill)(void **live, unsigned count);
	void (*empty)(void **live, unsigned count);
};

extern struct alloc_ops alloc_ops;

/*
 * name_ops, of an expression that takes an object and of one that gives it back.
 * Each is called directly, as a program would; what is of this program is not to
 * be inlined, since libraries are not.
 */
#define ALLOC_OPS(name, TAKE, GIVE)					\
	static void name##_pairs(unsigned count)			\
	{								\
		while (count-- > 0) {					\
			void *object = TAKE;				\
									\
			*(volatile uint64_t *)object = 1;		\
			GIVE;						\
		}							\
	}								\
									\
	static uint32_t name##_timed(void)				\
	{								\
		uint64_t begin = wefti_arch_cycles();			\
									\
		name##_pairs(1);					\
		return (uint32_t)(wefti_arch_cycles() - begin);		\
	}								\
									\
	static void name##_replace(void **live, const uint16_t *number,	\
				   unsigned count)			\
	{								\
		while (count-- > 0) {					\
			void **at = &live[*number++], *object = *at;	\
									\
			GIVE;						\
			*at = object = TAKE;				\
			*(volatile uint64_t *)object = 1;		\
		}							\
	}								\
									\
	static void name##_fill(void **live, unsigned count)		\
	{								\
		while (count-- > 0)					\
			live[count] = TAKE;				\
	}								\
									\
	static void name##_empty(void **live, unsigned count)		\
	{								\
		while (count-- > 0) {					\
			void *object = live[count];			\
									\
			GIVE;						\
		}							\
	}								\
									\
	static const struct alloc_ops name##_ops = {			\
		name##_pairs, name##_timed, name##_replace,		\
		name##_fill, name##_empty,				\
	}

/* Each fills alloc_ops in, and may skip the sample. */
void use_weft(struct bench_ctx *ctx);
void use_uslab(struct bench_ctx *ctx);
void use_tas(struct bench_ctx *ctx);
void use_ttas(struct bench_ctx *ctx);
void use_backoff(struct bench_ctx *ctx);
void use_ticket(struct bench_ctx *ctx);
void use_mcs(struct bench_ctx *ctx);
void use_mutex(struct bench_ctx *ctx);
void use_cas(struct bench_ctx *ctx);
void use_stack(struct bench_ctx *ctx);
void use_istack(struct bench_ctx *ctx);
void use_malloc(struct bench_ctx *ctx);
void use_jemalloc(struct bench_ctx *ctx);
void use_mimalloc(struct bench_ctx *ctx);

#endif
