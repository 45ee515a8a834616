/* SPDX-License-Identifier: MIT */
/* arch/aarch64/cpu.c - the little that has to be found out */
#include "cpu.h"

_Thread_local struct wefti_thread *wefti_tls_self;

void wefti_arch_init(void)
{
}

uint64_t wefti_arch_cycles_per_second(void)
{
	uint64_t hz;

	__asm__("mrs %0, cntfrq_el0" : "=r" (hz));
	return hz;
}

int wefti_arch_cycles_are_invariant(void)
{
	return 1;	/* the generic timer is, by its architecture */
}
