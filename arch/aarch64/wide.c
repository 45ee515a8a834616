/* SPDX-License-Identifier: MIT */
/* arch/aarch64/wide.c - what this processor can do with 16 bytes at once */
#include "wide.h"

#include <sys/auxv.h>

#define HWCAP_LSE	(1ul << 8)	/* atomic instructions, casp among them */
#define HWCAP_LSE2	(1ul << 25)	/* aligned 16-byte accesses are atomic */

unsigned wefti_arch_wide_flags;

unsigned wefti_arch_wide_find_out(void)
{
	unsigned long has = getauxval(AT_HWCAP);
	unsigned flags = WEFTI_WIDE_KNOWN | WEFTI_WIDE_CAS;

	if (has & HWCAP_LSE)
		flags |= WEFTI_WIDE_LSE;
	if (has & HWCAP_LSE2)
		flags |= WEFTI_WIDE_LOAD;
	__atomic_store_n(&wefti_arch_wide_flags, flags, __ATOMIC_RELAXED);
	return flags;
}
