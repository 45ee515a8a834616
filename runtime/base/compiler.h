/* SPDX-License-Identifier: MIT */
/* base/compiler.h - macros for the compiler, in one place */
#ifndef WEFT_BASE_COMPILER_H
#define WEFT_BASE_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define NOINLINE	__attribute__((noinline))
#define ALWAYS_INLINE	inline __attribute__((always_inline))
#define COLD		__attribute__((cold, noinline))
#define MUST_USE	__attribute__((warn_unused_result))

#define compiler_barrier()	__asm__ volatile("" ::: "memory")

#define CACHE_LINE	64

#define container_of(p, type, member)	\
	((type *)((char *)(p) - offsetof(type, member)))

/*
 * For a variable of 2 KiB or more without a value of its own. In the libraries all such
 * variables lie behind the others. So the others share a few pages, and each page that is
 * touched costs a start a microsecond. A sanitizer puts no red zones around variables in
 * a section.
 */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define TABLE
#else
#define TABLE		__attribute__((section(".bss.table")))
#endif

/*
 * p, where the caller knows that it is not NULL. Compilers that inline a look-up see its
 * way to NULL, and warn about what is done there.
 */
static ALWAYS_INLINE void *wefti_not_null(void *p)
{
	if (!p)
		__builtin_unreachable();
	return p;
}

#if defined(__SANITIZE_THREAD__)
#define WEFT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT_TSAN 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_ASAN 1
#endif
#endif

#endif
