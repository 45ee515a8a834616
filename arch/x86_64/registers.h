/* SPDX-License-Identifier: MIT */
/* arch/x86_64/registers.h - a context's registers by their DWARF numbers */
#ifndef WEFT_ARCH_REGISTERS_H
#define WEFT_ARCH_REGISTERS_H

#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#define WEFTI_ARCH_SIGRETURN_BYTES	9

/* psABI, figure 3.36; 16 is the return address, here the program counter. */
static inline int wefti_arch_register(const ucontext_t *uc, int number,
				      uintptr_t *value)
{
	static const unsigned char order[] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP,
		REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13,
		REG_R14, REG_R15, REG_RIP,
	};

	if (number < 0 || number >= (int)sizeof(order))
		return -1;
	*value = (uintptr_t)uc->uc_mcontext.gregs[order[number]];
	return 0;
}

static inline void wefti_arch_move_sp(ucontext_t *uc, uintptr_t by)
{
	uc->uc_mcontext.gregs[REG_RSP] += (greg_t)by;
}

/*
 * Is this the code to which a signal handler returns? The kernel's interface leaves
 * these two instructions to libc, and unwinders recognize them:
 *	mov $15,%rax	(rt_sigreturn)
 *	syscall
 */
static inline int wefti_arch_is_sigreturn(const unsigned char *code)
{
	static const unsigned char known[WEFTI_ARCH_SIGRETURN_BYTES] = {
		0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05,
	};

	return memcmp(code, known, sizeof(known)) == 0;
}

#endif
