/* SPDX-License-Identifier: MIT */
/* arch/aarch64/registers.h - a context's registers by their DWARF numbers */
#ifndef WEFT_ARCH_REGISTERS_H
#define WEFT_ARCH_REGISTERS_H

#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#define WEFTI_ARCH_SIGRETURN_BYTES	8

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

/*
 * Is this the code to which a signal handler returns? The kernel has these two
 * instructions in the vDSO, and unwinders recognize them:
 *	mov x8,#139	(rt_sigreturn)
 *	svc #0
 */
static inline int wefti_arch_is_sigreturn(const unsigned char *code)
{
	static const unsigned char known[WEFTI_ARCH_SIGRETURN_BYTES] = {
		0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4,
	};

	return memcmp(code, known, sizeof(known)) == 0;
}

#endif
