/* SPDX-License-Identifier: MIT */
/*
 * explore/hooks.h - the functions that -fsanitize=thread of gcc and clang calls
 *
 * Two libraries define them. libweft-points.so has them for normal runs: accesses do
 * nothing, and atomics do their work. libweft-explore.so has them for explored runs, and
 * stands in front. So a normal run has no test of a hook.
 *
 * The includer defines before:
 *	touch(at, bytes, kind, where)         before an access
 *	touch_atomic(at, bytes, kind, where)  before an atomic access
 *	has_touched(at, order, does)          behind it
 *	fence(order), enter(where, frame), leave(), load_module(where), give(at), take(at)
 *
 * Each atomic is as strong as the strongest, whatever order the program asks for. Names
 * and arguments are those of LLVM's compiler-rt and of gcc's sanitizer.def. Left out is what
 * a program itself would call, as annotations of its own mutexes.
 */
#ifndef WEFT_EXPLORE_HOOKS_H
#define WEFT_EXPLORE_HOOKS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "access.h"
#include "export.h"
#include "wide_access.h"

/* What an atomic access does to the order of threads. */
enum does { LOADS = 1, STORES = 2, CHANGES = 3 };

static inline void touch(const volatile void *at, size_t bytes, enum wefti_ex_access kind,
			 const void *where);
static inline void touch_atomic(const volatile void *at, size_t bytes,
				enum wefti_ex_access kind, const void *where);
static inline void has_touched(const volatile void *at, int order, enum does does);
static inline void fence(int order);
static inline void enter(const void *where, const void *frame);
static inline void leave(void);
static inline void load_module(const void *where);
static inline void give(const void *at);
static inline void take(const void *at);

#define ACCESS(name, bytes, kind)						\
	EXPORT void __tsan_##name(void *at);					\
	void __tsan_##name(void *at)						\
	{									\
		touch(at, bytes, kind, CALLER);					\
	}

#define SIZED(n)								\
	ACCESS(read##n, n, WEFTI_EX_LOADS)					\
	ACCESS(write##n, n, WEFTI_EX_STORES)					\
	ACCESS(read_write##n, n, WEFTI_EX_STORES)				\
	ACCESS(volatile_read##n, n, WEFTI_EX_LOADS)				\
	ACCESS(volatile_write##n, n, WEFTI_EX_STORES)				\
	ACCESS(unaligned_read##n, n, WEFTI_EX_LOADS)				\
	ACCESS(unaligned_write##n, n, WEFTI_EX_STORES)				\
	ACCESS(unaligned_read_write##n, n, WEFTI_EX_STORES)			\
	ACCESS(unaligned_volatile_read##n, n, WEFTI_EX_LOADS)			\
	ACCESS(unaligned_volatile_write##n, n, WEFTI_EX_STORES)

SIZED(1)
SIZED(2)
SIZED(4)
SIZED(8)
SIZED(16)
ACCESS(vptr_read, sizeof(void *), WEFTI_EX_LOADS)

#define HOOK(name, arguments)							\
	EXPORT void __tsan_##name arguments;					\
	void __tsan_##name arguments

/* A constructor writes the same pointer again. */
HOOK(vptr_update, (void **at, void *value))
{
	if (*at != value)
		touch(at, sizeof(*at), WEFTI_EX_STORES, CALLER);
}

HOOK(read_range, (void *at, size_t bytes))
{
	touch(at, bytes, WEFTI_EX_LOADS, CALLER);
}

HOOK(write_range, (void *at, size_t bytes))
{
	touch(at, bytes, WEFTI_EX_STORES, CALLER);
}

HOOK(init, (void))
{
	load_module(CALLER);
}

HOOK(func_entry, (void *where))
{
	enter(where, __builtin_frame_address(0));
}

HOOK(func_exit, (void))
{
	leave();
}

HOOK(acquire, (void *at))
{
	take(at);
}

HOOK(release, (void *at))
{
	give(at);
}

HOOK(ignore_thread_begin, (void))
{
}

HOOK(ignore_thread_end, (void))
{
}

#define COPIES(name)								\
	EXPORT void *__tsan_##name(void *to, const void *from, size_t bytes);	\
	void *__tsan_##name(void *to, const void *from, size_t bytes)		\
	{									\
		touch(from, bytes, WEFTI_EX_LOADS, CALLER);			\
		touch(to, bytes, WEFTI_EX_STORES, CALLER);			\
		return name(to, from, bytes);					\
	}
COPIES(memcpy)
COPIES(memmove)

EXPORT void *__tsan_memset(void *to, int value, size_t bytes);
void *__tsan_memset(void *to, int value, size_t bytes)
{
	touch(to, bytes, WEFTI_EX_STORES, CALLER);
	return memset(to, value, bytes);
}

HOOK(atomic_thread_fence, (int order))
{
	fence(order);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

HOOK(atomic_signal_fence, (int order))
{
	(void)order;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

__extension__ typedef unsigned __int128 wefti_ex_wide;

#define PLAIN_ATOMIC(bits, T)							\
	static inline T load_##bits(const volatile void *at)			\
	{									\
		return __atomic_load_n((const volatile T *)at, __ATOMIC_SEQ_CST); \
	}									\
	static inline int cas_##bits(volatile void *at, T *expected, T value)	\
	{									\
		return __atomic_compare_exchange_n((volatile T *)at, expected, value, 0, \
						   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
	}

PLAIN_ATOMIC(8, uint8_t)
PLAIN_ATOMIC(16, uint16_t)
PLAIN_ATOMIC(32, uint32_t)
PLAIN_ATOMIC(64, uint64_t)

static inline wefti_ex_wide load_128(const volatile void *at)
{
	const struct wefti_wide v = wefti_arch_wide_load(at);

	return (wefti_ex_wide)v.hi << 64 | v.lo;
}

static inline int cas_128(volatile void *at, wefti_ex_wide *expected, wefti_ex_wide value)
{
	struct wefti_wide e = { (uint64_t)*expected, (uint64_t)(*expected >> 64) };
	const struct wefti_wide v = { (uint64_t)value, (uint64_t)(value >> 64) };
	const int done = wefti_arch_wide_cas(at, &e, v);

	*expected = (wefti_ex_wide)e.hi << 64 | e.lo;
	return done;
}

#define CHANGES_TO(name, bits, T, change)					\
	EXPORT T __tsan_atomic##bits##_##name(volatile void *at, T value, int order); \
	T __tsan_atomic##bits##_##name(volatile void *at, T value, int order)	\
	{									\
		T old;								\
										\
		touch_atomic(at, sizeof(T), WEFTI_EX_ATOMIC_STORES, CALLER);	\
		old = load_##bits(at);						\
		while (!cas_##bits(at, &old, (T)(change)))			\
			;							\
		has_touched(at, order, CHANGES);				\
		return old;							\
	}

#define COMPARES(bits, T)							\
	static inline int exchange_##bits(volatile void *at, T *expected, T value, \
					  int order, int otherwise, const void *where) \
	{									\
		int done;							\
										\
		touch_atomic(at, sizeof(T), WEFTI_EX_ATOMIC_STORES, where);	\
		done = cas_##bits(at, expected, value);				\
		has_touched(at, done ? order : otherwise, done ? CHANGES : LOADS); \
		return done;							\
	}									\
	EXPORT T __tsan_atomic##bits##_compare_exchange_val(volatile void *at,	\
							    T expected, T value, \
							    int order, int otherwise); \
	T __tsan_atomic##bits##_compare_exchange_val(volatile void *at, T expected, \
						     T value, int order, int otherwise)	\
	{									\
		(void)exchange_##bits(at, &expected, value, order, otherwise, CALLER); \
		return expected;						\
	}

#define COMPARE(name, bits, T)							\
	EXPORT int __tsan_atomic##bits##_##name(volatile void *at, void *expected, T value, \
						int order, int otherwise);	\
	int __tsan_atomic##bits##_##name(volatile void *at, void *expected, T value, \
					 int order, int otherwise)		\
	{									\
		return exchange_##bits(at, expected, value, order, otherwise, CALLER); \
	}

#define ATOMIC(bits, T)								\
	EXPORT T __tsan_atomic##bits##_load(const volatile void *at, int order); \
	T __tsan_atomic##bits##_load(const volatile void *at, int order)	\
	{									\
		T value;							\
										\
		touch_atomic(at, sizeof(T), WEFTI_EX_ATOMIC_LOADS, CALLER);	\
		value = load_##bits(at);					\
		has_touched(at, order, LOADS);					\
		return value;							\
	}									\
	EXPORT void __tsan_atomic##bits##_store(volatile void *at, T value, int order); \
	void __tsan_atomic##bits##_store(volatile void *at, T value, int order)	\
	{									\
		T old;								\
										\
		touch_atomic(at, sizeof(T), WEFTI_EX_ATOMIC_STORES, CALLER);	\
		old = load_##bits(at);						\
		while (!cas_##bits(at, &old, value))				\
			;							\
		has_touched(at, order, STORES);					\
	}									\
	CHANGES_TO(exchange, bits, T, value)					\
	CHANGES_TO(fetch_add, bits, T, old + value)				\
	CHANGES_TO(fetch_sub, bits, T, old - value)				\
	CHANGES_TO(fetch_and, bits, T, old & value)				\
	CHANGES_TO(fetch_or, bits, T, old | value)				\
	CHANGES_TO(fetch_xor, bits, T, old ^ value)				\
	CHANGES_TO(fetch_nand, bits, T, ~(old & value))				\
	COMPARES(bits, T)							\
	COMPARE(compare_exchange_strong, bits, T)				\
	COMPARE(compare_exchange_weak, bits, T)

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
ATOMIC(128, wefti_ex_wide)

#endif
