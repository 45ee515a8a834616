/* SPDX-License-Identifier: MIT */
/*
 * arch/wide.h - atomic accesses to 16 bytes that are aligned to 16
 *
 * The accesses are the CPU's: wide_access.h, which says how it makes them seq_cst.
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
#define WEFTI_WIDE_CAS		2u	/* there is a CAS of 16 bytes */
#define WEFTI_WIDE_LOAD		4u	/* an aligned load is atomic */

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
				      struct wefti_wide desired);

/* Needs WEFTI_WIDE_CAS. Without _LOAD, *p is written (with its own value). */
static inline struct wefti_wide wefti_arch_wide_load(const volatile void *p);

#include "wide_access.h"

#endif
