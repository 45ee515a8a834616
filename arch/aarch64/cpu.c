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

/* A client request of Valgrind; on the processor, four moves without effect. */
static uint64_t ask_valgrind(uint64_t what, uint64_t first, uint64_t second)
{
	volatile uint64_t request[6] = { what, first, second };
	register uint64_t result __asm__("x3") = 0;
	register volatile uint64_t *arg __asm__("x4") = request;

	__asm__ volatile("ror x12, x12, #3\n\tror x12, x12, #13\n\t"
			 "ror x12, x12, #51\n\tror x12, x12, #61\n\t"
			 "orr x10, x10, x10"
			 : "+r" (result) : "r" (arg) : "cc", "memory");
	return result;
}

int wefti_arch_on_valgrind(void)
{
	return ask_valgrind(0x1001, 0, 0) != 0;
}

void wefti_arch_tell_stack(uintptr_t low, uintptr_t high)
{
	ask_valgrind(0x1501, low, high - 1);
}
