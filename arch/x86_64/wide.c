/* SPDX-License-Identifier: MIT */
/* arch/x86_64/wide.c - what this processor can do with 16 bytes at once */
#include "wide.h"

#include <cpuid.h>

#define CPUID_FEATURES		1u
#define ECX_CMPXCHG16B		(1u << 13)
#define ECX_AVX			(1u << 28)

unsigned wefti_arch_wide_flags;

/*
 * Intel (SDM volume 3, 9.1.1) and AMD (APM volume 2, 7.3.2) say that processors
 * with AVX do aligned 16-byte loads at once.
 */
static int vendor_says_so(void)
{
	unsigned most, b = 0, c = 0, d = 0;

	return __get_cpuid(0, &most, &b, &c, &d) &&
		(b == signature_INTEL_ebx || b == signature_AMD_ebx);
}

unsigned wefti_arch_wide_find_out(void)
{
	unsigned a, b, c = 0, d, flags = WEFTI_WIDE_KNOWN;

	if (__get_cpuid(CPUID_FEATURES, &a, &b, &c, &d) && (c & ECX_CMPXCHG16B))
		flags |= WEFTI_WIDE_CAS;
	if ((c & ECX_AVX) && vendor_says_so())
		flags |= WEFTI_WIDE_LOAD;
	__atomic_store_n(&wefti_arch_wide_flags, flags, __ATOMIC_RELAXED);
	return flags;
}
