/* SPDX-License-Identifier: MIT */
/* arch/valgrind.c - what Valgrind is asked and told, by its client requests */
#include "cpu.h"

#define RUNNING_ON_VALGRIND	0x1001
#define STACK_REGISTER		0x1501

static uint64_t ask(uint64_t what, uint64_t first, uint64_t second)
{
	volatile uint64_t request[6] = { what, first, second };

	return wefti_arch_ask_valgrind(request);
}

int wefti_arch_on_valgrind(void)
{
	return ask(RUNNING_ON_VALGRIND, 0, 0) != 0;
}

void wefti_arch_tell_stack(uintptr_t low, uintptr_t high)
{
	ask(STACK_REGISTER, low, high - 1);
}
