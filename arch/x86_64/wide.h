/* SPDX-License-Identifier: MIT */
/*
 * arch/x86_64/wide.h - atomic accesses to 16 bytes that are aligned to 16
 *
 * All are full fences, or loads in order: seq_cst needs no more here.
 */
#ifndef WEFT_ARCH_WIDE_H
#define WEFT_ARCH_WIDE_H

#include <stdint.h>

struct wefti_wide {
	uint64_t lo, hi;
};

/*
 * What the processor can do: the flags of wefti_arch_wide_can(), which finds them out.
 */
#define WEFTI_WIDE_KNOWN	1u
#define WEFTI_WIDE_CAS		2u	/* cmpxchg16b; all but the first few */
#define WEFTI_WIDE_LOAD		4u	/* an aligned movdqa is atomic */

extern unsigned wefti_arch_wide_flags __attribute__((visibility("hidden")));
unsigned wefti_arch_wide_find_out(void);

static inline unsigned wefti_arch_wide_can(void)
{
	/* Every thread that finds out gets the same result. */
	unsigned flags = __atomic_load_n(&wefti_arch_wide_flags,
					 __ATOMIC_RELAXED);

	return __builtin_expect(flags != 0, 1) ? flags :
		wefti_arch_wide_find_out();
}

/* Needs WEFTI_WIDE_CAS. Returns 1; or 0, with the value found in *expected. */
static inline int wefti_arch_wide_cas(volatile void *p,
				      struct wefti_wide *expected,
				      struct wefti_wide desired)
{
	volatile struct wefti_wide *w = p;
	unsigned char done;

	__asm__ volatile("lock cmpxchg16b %1"
			 : "=@ccz" (done), "+m" (*w), "+a" (expected->lo),
			   "+d" (expected->hi)
			 : "b" (desired.lo), "c" (desired.hi) : "memory");
	return done;
}

/* Needs WEFTI_WIDE_CAS. Without _LOAD, *p is written (with its own value). */
static inline struct wefti_wide wefti_arch_wide_load(const volatile void *p)
{
	struct wefti_wide v = { 0, 0 };

	if (__builtin_expect(wefti_arch_wide_can() & WEFTI_WIDE_LOAD, 1))
		__asm__ volatile("movdqa %2, %%xmm0\n\t"
				 "movq %%xmm0, %0\n\t"
				 "punpckhqdq %%xmm0, %%xmm0\n\t"
				 "movq %%xmm0, %1"
				 : "=r" (v.lo), "=r" (v.hi)
				 : "m" (*(const volatile struct wefti_wide *)p)
				 : "xmm0", "memory");
	else
		wefti_arch_wide_cas((volatile void *)(uintptr_t)p, &v, v);
	return v;
}

#endif
