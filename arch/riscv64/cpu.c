/* SPDX-License-Identifier: MIT */
/* arch/riscv64/cpu.c - the little that must be found out */
#include "cpu.h"

void wefti_arch_init(void)
{
}

int wefti_arch_frames_are_largest(void)
{
	return 1;
}

/* The firmware tells it to the kernel, in /proc/device-tree. Not every kernel has that. */
uint64_t wefti_arch_cycles_per_second(void)
{
	return 0;
}

int wefti_arch_cycles_are_invariant(void)
{
	return 1;	/* time is of one constant rate, by its architecture */
}
