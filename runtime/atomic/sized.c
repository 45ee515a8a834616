/* SPDX-License-Identifier: MIT */
/*
 * atomic/sized.c - the functions that compilers call for atomic objects of 1 to 16
 * bytes
 *
 * Compilers call these when they do not inline them: nearly always for 16 bytes, for
 * the others with -fno-inline-atomics. All are loops of CAS, and seq_cst. If the CPU
 * cannot handle 16 bytes at once, the generic functions take a lock.
 *
 * Writers
 *   *p  cas_16; generic.c: cas_any, wefti_atomic_compare_exchange;
 *       section.h: wefti_atomic_put, wefti_atomic_put_three
 */
#include <stdint.h>

#include "atomic/names.h"
#include "lockfree/atomic.h"

typedef unsigned __int128 uint128_t;

#define PUBLIC(type, name, size, ...)					\
	type wefti_##name##_##size(__VA_ARGS__)				\
		EXPORT_AS("__atomic_" #name "_" #size);			\
	type wefti_##name##_##size(__VA_ARGS__)

#define WORD_FUNCTIONS(size, T)						\
	static T load_##size(const void *p)				\
	{								\
		return load_seq_cst((const _Atomic T *)p);		\
	}								\
	static int cas_##size(void *p, T *expected, T desired)		\
	{								\
		return cas_seq_cst((_Atomic T *)p, expected, desired);	\
	}

WORD_FUNCTIONS(1, uint8_t)
WORD_FUNCTIONS(2, uint16_t)
WORD_FUNCTIONS(4, uint32_t)
WORD_FUNCTIONS(8, uint64_t)

static uint128_t load_16(const void *p)
{
	uint128_t v;

	wefti_atomic_load(sizeof(v), p, &v, 0);
	return v;
}

static int cas_16(void *p, uint128_t *expected, uint128_t desired)
{
	return wefti_atomic_compare_exchange(sizeof(desired), p, expected,
					     &desired, 0, 0);
}

/* Shared by both forms of a fetch function, which return old or new. */
#define CHANGE(size, T, p, change)					\
	T old = load_##size(p), new;					\
	do								\
		new = (T)(change);					\
	while (!cas_##size(p, &old, new))

#define FETCH(op, size, T, change)					\
	PUBLIC(T, fetch_##op, size, void *p, T v, int order)		\
	{								\
		(void)order;						\
		CHANGE(size, T, p, change);				\
		return old;						\
	}								\
	PUBLIC(T, op##_fetch, size, void *p, T v, int order)		\
	{								\
		(void)order;						\
		CHANGE(size, T, p, change);				\
		return new;						\
	}

#define SIZED(size, T)							\
	PUBLIC(T, load, size, const void *p, int order)			\
	{								\
		(void)order;						\
		return load_##size(p);					\
	}								\
	PUBLIC(void, store, size, void *p, T v, int order)		\
	{								\
		(void)order;						\
		CHANGE(size, T, p, v);					\
	}								\
	PUBLIC(T, exchange, size, void *p, T v, int order)		\
	{								\
		(void)order;						\
		CHANGE(size, T, p, v);					\
		return old;						\
	}								\
	PUBLIC(_Bool, compare_exchange, size, void *p, T *expected,	\
	       T desired, int success, int failure)			\
	{								\
		(void)success;						\
		(void)failure;						\
		return cas_##size(p, expected, desired);		\
	}								\
	PUBLIC(_Bool, test_and_set, size, void *p, int order)		\
	{								\
		(void)order;						\
		CHANGE(size, T, p, old | 1);				\
		return old != 0;					\
	}								\
	FETCH(add, size, T, old + v)					\
	FETCH(sub, size, T, old - v)					\
	FETCH(and, size, T, old & v)					\
	FETCH(or, size, T, old | v)					\
	FETCH(xor, size, T, old ^ v)					\
	FETCH(nand, size, T, ~(old & v))

SIZED(1, uint8_t)
SIZED(2, uint16_t)
SIZED(4, uint32_t)
SIZED(8, uint64_t)
SIZED(16, uint128_t)
