/* SPDX-License-Identifier: MIT */
/*
 * arch/aarch64/wide_access.h - atomic accesses to 16 bytes that are aligned to 16
 *
 * All are acquire and release, of the kind that stays in order with others of its kind
 * (RCsc), which is how compilers do seq_cst here. There is always a CAS. With LSE2 an
 * aligned ldp is atomic.
 */
#ifndef WEFT_ARCH_WIDE_ACCESS_H
#define WEFT_ARCH_WIDE_ACCESS_H

#include "wide.h"

#define WEFTI_WIDE_LSE		8u	/* casp */

static inline int wefti_arch_wide_casp(volatile void *p,
				       struct wefti_wide *expected,
				       struct wefti_wide desired)
{
	/* casp takes two neighbouring registers, the first of them even. */
	register uint64_t e_lo __asm__("x4") = expected->lo;
	register uint64_t e_hi __asm__("x5") = expected->hi;
	register uint64_t d_lo __asm__("x6") = desired.lo;
	register uint64_t d_hi __asm__("x7") = desired.hi;
	int done;

	__asm__ volatile(".arch_extension lse\n\t"
			 "caspal %0, %1, %2, %3, [%4]"
			 : "+r" (e_lo), "+r" (e_hi)
			 : "r" (d_lo), "r" (d_hi), "r" (p) : "memory");
	done = e_lo == expected->lo && e_hi == expected->hi;
	expected->lo = e_lo;
	expected->hi = e_hi;
	return done;
}

/*
 * The two words that ldxp reads are sure to be one value only if the stxp behind it
 * succeeds. So a failure writes back what it found.
 */
static inline int wefti_arch_wide_cas(volatile void *p,
				      struct wefti_wide *expected,
				      struct wefti_wide desired)
{
	uint64_t lo, hi, s_lo, s_hi;
	uint32_t lost;
	int done;

	if (wefti_arch_wide_can() & WEFTI_WIDE_LSE)
		return wefti_arch_wide_casp(p, expected, desired);
	__asm__ volatile("1:	ldaxp	%0, %1, [%5]\n\t"
			 "cmp	%0, %6\n\t"
			 "ccmp	%1, %7, #0, eq\n\t"
			 "csel	%2, %8, %0, eq\n\t"
			 "csel	%3, %9, %1, eq\n\t"
			 "stlxp	%w4, %2, %3, [%5]\n\t"
			 "cbnz	%w4, 1b"
			 : "=&r" (lo), "=&r" (hi), "=&r" (s_lo), "=&r" (s_hi),
			   "=&r" (lost)
			 : "r" (p), "r" (expected->lo), "r" (expected->hi),
			   "r" (desired.lo), "r" (desired.hi)
			 : "cc", "memory");
	done = lo == expected->lo && hi == expected->hi;
	expected->lo = lo;
	expected->hi = hi;
	return done;
}

static inline struct wefti_wide wefti_arch_wide_load(const volatile void *p)
{
	struct wefti_wide v = { 0, 0 };

	if (wefti_arch_wide_can() & WEFTI_WIDE_LOAD)
		/* The ldar keeps the order with an stlr before it. */
		__asm__ volatile("ldar xzr, [%2]\n\t"
				 "ldp %0, %1, [%2]\n\t"
				 "dmb ishld"
				 : "=&r" (v.lo), "=&r" (v.hi)
				 : "r" (p) : "memory");
	else
		wefti_arch_wide_cas((volatile void *)(uintptr_t)p, &v, v);
	return v;
}

#endif
