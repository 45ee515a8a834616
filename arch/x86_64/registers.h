/* SPDX-License-Identifier: MIT */
/* arch/x86_64/registers.h - the registers of an interrupted context */
#ifndef WEFT_ARCH_REGISTERS_H
#define WEFT_ARCH_REGISTERS_H

#include <stdint.h>
#include <string.h>
#include <ucontext.h>

/* What other CPUs have under other names. */
#define WEFTI_ARCH_PC(uc)	((uc)->uc_mcontext.gregs[REG_RIP])
#define WEFTI_ARCH_SP(uc)	((uc)->uc_mcontext.gregs[REG_RSP])
#define WEFTI_ARCH_LINK(uc)	0	/* calls put it on the stack */
#define WEFTI_ARCH_NUMBER(uc)	((uc)->uc_mcontext.gregs[REG_RAX])
#define WEFTI_ARCH_RESULT(uc)	((uc)->uc_mcontext.gregs[REG_RAX])
#define WEFTI_ARCH_CALL_BYTES	2

static inline int wefti_arch_is_call(uintptr_t pc)
{
	const unsigned char *code = (const void *)pc;

	return code[0] == 0x0f && code[1] == 0x05;
}

/* The arguments of the system call that an instruction made. */
static inline void wefti_arch_ucontext_args(const ucontext_t *uc, long *six)
{
	static const int reg[] = {
		REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9,
	};

	for (int i = 0; i < 6; i++)
		six[i] = (long)uc->uc_mcontext.gregs[reg[i]];
}

/* Is the thread right behind a system call? It leaves its return address in rcx. */
static inline int wefti_arch_ucontext_is_behind_call(const ucontext_t *uc)
{
	return uc->uc_mcontext.gregs[REG_RCX] == uc->uc_mcontext.gregs[REG_RIP];
}

/*
 * Where a signal handler returns to. The kernel's interface leaves these two instructions
 * to libc:
 *	mov $15,%rax	(rt_sigreturn)
 *	syscall
 */
#define WEFTI_ARCH_SIGRETURN		0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05
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

/* The same numbers, of what an unwinder begins with. -1: there is no such register. */
#define WEFTI_ARCH_NUMBER_FP	6
#define WEFTI_ARCH_NUMBER_SP	7
#define WEFTI_ARCH_NUMBER_LINK	(-1)

/* What an unwinder needs, from a frame of the kernel's. */
static inline void wefti_arch_copy_registers(ucontext_t *to, const ucontext_t *from)
{
	to->uc_mcontext = from->uc_mcontext;
}

#endif
