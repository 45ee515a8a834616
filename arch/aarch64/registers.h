/* SPDX-License-Identifier: MIT */
/* arch/aarch64/registers.h - the registers of an interrupted context */
#ifndef WEFT_ARCH_REGISTERS_H
#define WEFT_ARCH_REGISTERS_H

#include <stdint.h>
#include <string.h>
#include <ucontext.h>

/* What other CPUs have under other names. */
#define WEFTI_ARCH_PC(uc)	((uc)->uc_mcontext.pc)
#define WEFTI_ARCH_SP(uc)	((uc)->uc_mcontext.sp)
#define WEFTI_ARCH_LINK(uc)	((uc)->uc_mcontext.regs[30])
#define WEFTI_ARCH_NUMBER(uc)	((uc)->uc_mcontext.regs[8])
#define WEFTI_ARCH_RESULT(uc)	((uc)->uc_mcontext.regs[0])
#define WEFTI_ARCH_CALL_BYTES	4

static inline int wefti_arch_is_call(uintptr_t pc)
{
	return *(const uint32_t *)pc == 0xd4000001u;
}

/* The arguments of the system call that an instruction made. */
static inline void wefti_arch_ucontext_args(const ucontext_t *uc, long *six)
{
	for (int i = 0; i < 6; i++)
		six[i] = (long)uc->uc_mcontext.regs[i];
}

/* Is the thread right behind a system call? Says no at the beginning of a page. */
static inline int wefti_arch_ucontext_is_behind_call(const ucontext_t *uc)
{
	const uintptr_t pc = (uintptr_t)WEFTI_ARCH_PC(uc);

	return pc % 4096 != 0 && wefti_arch_is_call(pc - WEFTI_ARCH_CALL_BYTES);
}

/*
 * Where a signal handler returns to. The kernel has these two instructions in the vDSO:
 *	mov x8,#139	(rt_sigreturn)
 *	svc #0
 */
#define WEFTI_ARCH_SIGRETURN		0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4
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

/* The same numbers, of what an unwinder begins with. -1: there is no such register. */
#define WEFTI_ARCH_NUMBER_FP	29
#define WEFTI_ARCH_NUMBER_SP	31
#define WEFTI_ARCH_NUMBER_LINK	30

/* What an unwinder needs, from a frame of the kernel's. */
static inline void wefti_arch_copy_registers(ucontext_t *to, const ucontext_t *from)
{
	to->uc_mcontext = from->uc_mcontext;
}

#endif
