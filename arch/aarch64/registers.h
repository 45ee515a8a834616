/* SPDX-License-Identifier: MIT */
/* arch/aarch64/registers.h - a context's registers by their DWARF numbers */
#ifndef WEFT_ARCH_REGISTERS_H
#define WEFT_ARCH_REGISTERS_H

#include <stdint.h>
#include <ucontext.h>

/* AADWARF64, section 4.1: 0 to 30, the stack pointer, the program counter. */
static inline int wefti_arch_register(const ucontext_t *uc, int number,
				      uintptr_t *value)
{
	if (number >= 0 && number <= 30)
		*value = (uintptr_t)uc->uc_mcontext.regs[number];
	else if (number == 31)
		*value = (uintptr_t)uc->uc_mcontext.sp;
	else if (number == 32)
		*value = (uintptr_t)uc->uc_mcontext.pc;
	else
		return -1;
	return 0;
}

static inline void wefti_arch_move_sp(ucontext_t *uc, uintptr_t by)
{
	uc->uc_mcontext.sp += by;
}

#endif
