/* SPDX-License-Identifier: MIT */
/* arch/aarch64/cpu.c - the little that must be found out */
#include "cpu.h"

void wefti_arch_init(void)
{
}

int wefti_arch_frames_are_largest(void)
{
	return 1;
}

uint64_t wefti_arch_cycles_per_second(void)
{
	uint64_t hz;

	__asm__("mrs %0, cntfrq_el0" : "=r" (hz));
	return hz;
}

int wefti_arch_cycles_are_invariant(void)
{
	return 1;	/* the generic timer is invariant, by its architecture */
}
