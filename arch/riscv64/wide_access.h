/* SPDX-License-Identifier: MIT */
/*
 * arch/riscv64/wide_access.h - atomic accesses to 16 bytes that are aligned to 16
 *
 * The extension Zacas has a CAS of 16 bytes. Processors without it have no such access:
 * lr and sc take one word. No load of 16 bytes is atomic. All are acquire and release, of
 * the kind that stays in order with others of its kind (RCsc). A CAS that fails is a load,
 * which by itself is acquire alone. The fence before it makes it release as well.
 */
#ifndef WEFT_ARCH_WIDE_ACCESS_H
#define WEFT_ARCH_WIDE_ACCESS_H

#include "wide.h"

/*
 * The instruction is amocas.q.aqrl a4, a6, (p), by its number, as few assemblers know it.
 * It takes two neighbouring registers, the first of them even.
 */
static inline int wefti_arch_wide_cas(volatile void *p,
				      struct wefti_wide *expected,
				      struct wefti_wide desired)
{
	register uint64_t e_lo __asm__("a4") = expected->lo;
	register uint64_t e_hi __asm__("a5") = expected->hi;
	register uint64_t d_lo __asm__("a6") = desired.lo;
	register uint64_t d_hi __asm__("a7") = desired.hi;
	int done;

	__asm__ volatile("fence rw, rw\n\t"
			 ".insn r 0x2f, 4, 0x17, a4, %4, a6"
			 : "+r" (e_lo), "+r" (e_hi)
			 : "r" (d_lo), "r" (d_hi), "r" (p) : "memory");
	done = e_lo == expected->lo && e_hi == expected->hi;
	expected->lo = e_lo;
	expected->hi = e_hi;
	return done;
}

static inline struct wefti_wide wefti_arch_wide_load(const volatile void *p)
{
	struct wefti_wide v = { 0, 0 };

	wefti_arch_wide_cas((volatile void *)(uintptr_t)p, &v, v);
	return v;
}

#endif
