/* SPDX-License-Identifier: MIT */
/*
 * arch/x86_64/frame.h - what a switch saves
 *
 * The status bits of SSE are the thread's, as the control words are. The x87 status bits
 * stay as they are at a switch.
 */
#ifndef WEFT_ARCH_FRAME_H
#define WEFT_ARCH_FRAME_H

/* The frame that a switch leaves at the saved sp; context.S draws it. */
#define FRAME_MXCSR	0	/* 4 bytes */
#define FRAME_X87CW	4	/* 2 bytes, then 2 unused */
#define FRAME_R15	8
#define FRAME_R14	16
#define FRAME_R13	24
#define FRAME_R12	32
#define FRAME_RBX	40
#define FRAME_RBP	48
#define FRAME_PC	56
#define FRAME_BYTES	64

/*
 * The same for debuggers: each register's name, where it lies, and which word of a core
 * file's registers it is (struct user_regs_struct). Then the words of two others.
 */
#define WEFTI_ARCH_FRAME(each) \
	each("r15", FRAME_R15, 0) each("r14", FRAME_R14, 1) \
	each("r13", FRAME_R13, 2) each("r12", FRAME_R12, 3) \
	each("rbx", FRAME_RBX, 5) each("rbp", FRAME_RBP, 4) \
	each("rip", FRAME_PC, 16)
#define WEFTI_ARCH_CORE_SP	19
#define WEFTI_ARCH_CORE_TP	21	/* -1: a note of its own, NT_ARM_TLS */

#ifndef __ASSEMBLER__
#include <stdint.h>

/* What a debugger or an unwinder needs from a parked context. */
struct wefti_arch_regs {
	uintptr_t pc, sp, fp;	/* fp is rbp; the names are the same on all */
	uintptr_t rbx, r12, r13, r14, r15;
};
#endif
#endif
