/* SPDX-License-Identifier: MIT */
/*
 * arch/x86_64/wide_access.h - atomic accesses to 16 bytes that are aligned to 16
 *
 * All are full fences, or loads in order: seq_cst needs no more here. The CAS is
 * cmpxchg16b, which all but the first few processors have. The load is movdqa.
 */
#ifndef WEFT_ARCH_WIDE_ACCESS_H
#define WEFT_ARCH_WIDE_ACCESS_H

#include "wide.h"

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
