/* SPDX-License-Identifier: MIT */
/* arch/riscv64/registers.h - the registers of an interrupted context */
#ifndef WEFT_ARCH_REGISTERS_H
#define WEFT_ARCH_REGISTERS_H

#include <stdint.h>
#include <string.h>
#include <ucontext.h>

/* Registers of a ucontext: 0 is the pc in place of x0, the others have their numbers. */
#define WEFTI_ARCH_GREG_RA	1
#define WEFTI_ARCH_GREG_SP	2
#define WEFTI_ARCH_GREG_S0	8
#define WEFTI_ARCH_GREG_A0	10
#define WEFTI_ARCH_GREG_A7	17	/* the number of a system call */
#define WEFTI_ARCH_GREG_S2	18

#define WEFTI_ARCH_ECALL	0x00000073u

/*
 * Instructions of 4 bytes are aligned to 2, and begin with two bits that are set. Others
 * have 2 bytes: what is behind one of those may be the end of the program's memory.
 */
static inline uint32_t wefti_arch_instruction(uintptr_t at)
{
	uint16_t half[2] = { 0, 0 };

	memcpy(&half[0], (const void *)at, sizeof(half[0]));
	if ((half[0] & 3) == 3)
		memcpy(&half[1], (const void *)(at + sizeof(half[0])), sizeof(half[1]));
	return (uint32_t)half[1] << 16 | half[0];
}

/* What other CPUs have under other names. */
#define WEFTI_ARCH_PC(uc)	((uc)->uc_mcontext.__gregs[REG_PC])
#define WEFTI_ARCH_SP(uc)	((uc)->uc_mcontext.__gregs[WEFTI_ARCH_GREG_SP])
#define WEFTI_ARCH_LINK(uc)	((uc)->uc_mcontext.__gregs[WEFTI_ARCH_GREG_RA])
#define WEFTI_ARCH_NUMBER(uc)	((uc)->uc_mcontext.__gregs[WEFTI_ARCH_GREG_A7])
#define WEFTI_ARCH_RESULT(uc)	((uc)->uc_mcontext.__gregs[WEFTI_ARCH_GREG_A0])
#define WEFTI_ARCH_CALL_BYTES	4

static inline int wefti_arch_is_call(uintptr_t pc)
{
	return wefti_arch_instruction(pc) == WEFTI_ARCH_ECALL;
}

/* The arguments of the system call that an instruction made. */
static inline void wefti_arch_ucontext_args(const ucontext_t *uc, long *six)
{
	for (int i = 0; i < 6; i++)
		six[i] = (long)uc->uc_mcontext.__gregs[WEFTI_ARCH_GREG_A0 + i];
}

/* Is the thread right behind a system call? Says no at the beginning of a page. */
static inline int wefti_arch_ucontext_is_behind_call(const ucontext_t *uc)
{
	const uintptr_t pc = (uintptr_t)WEFTI_ARCH_PC(uc);

	return pc % 4096 >= WEFTI_ARCH_CALL_BYTES &&
	       wefti_arch_is_call(pc - WEFTI_ARCH_CALL_BYTES);
}

/*
 * Where a signal handler returns to. The kernel has these two instructions in the vDSO:
 *	li a7, 139	(rt_sigreturn)
 *	ecall
 */
#define WEFTI_ARCH_SIGRETURN		0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0
#define WEFTI_ARCH_SIGRETURN_BYTES	8

/* libunwind's number of the program counter; DWARF has none. */
#define WEFTI_ARCH_NUMBER_PC		64

/* The psABI, "DWARF Register Numbers": x0, which is zero, to x31. */
static inline int wefti_arch_register(const ucontext_t *uc, int number,
				      uintptr_t *value)
{
	if (number == 0)
		*value = 0;
	else if (number >= 1 && number <= 31)
		*value = (uintptr_t)uc->uc_mcontext.__gregs[number];
	else if (number == WEFTI_ARCH_NUMBER_PC)
		*value = (uintptr_t)uc->uc_mcontext.__gregs[REG_PC];
	else
		return -1;
	return 0;
}

/* The same numbers, of what an unwinder begins with. -1: there is no such register. */
#define WEFTI_ARCH_NUMBER_FP	8
#define WEFTI_ARCH_NUMBER_SP	2
#define WEFTI_ARCH_NUMBER_LINK	1

/*
 * What an unwinder needs, from a frame of the kernel's. Not all of uc_mcontext: the rest of
 * qemu-user's is shorter, and may end where the stack does.
 */
static inline void wefti_arch_copy_registers(ucontext_t *to, const ucontext_t *from)
{
	memcpy(to->uc_mcontext.__gregs, from->uc_mcontext.__gregs,
	       sizeof(to->uc_mcontext.__gregs));
}

#endif
