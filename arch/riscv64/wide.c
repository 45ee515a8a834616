/* SPDX-License-Identifier: MIT */
/* arch/riscv64/wide.c - what this processor can do with 16 bytes at once */
#include "wide.h"

#include "syscall.h"

#define KEY_IMA_EXT_0		4
#define EXT_ZACAS		(1ull << 34)

unsigned wefti_arch_wide_flags;

/* All CPUs are asked about. A kernel before 6.8 does not know Zacas, and says no. */
unsigned wefti_arch_wide_find_out(void)
{
	struct { int64_t key; uint64_t value; } probe = { KEY_IMA_EXT_0, 0 };
	unsigned flags = WEFTI_WIDE_KNOWN;

	if (wefti_arch_hwprobe(&probe, 1, 0, NULL, 0) == 0 &&
	    probe.key == KEY_IMA_EXT_0 && (probe.value & EXT_ZACAS))
		flags |= WEFTI_WIDE_CAS;
	__atomic_store_n(&wefti_arch_wide_flags, flags, __ATOMIC_RELAXED);
	return flags;
}
