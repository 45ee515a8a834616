/* SPDX-License-Identifier: MIT */
/*
 * arch/aarch64/frame.h - what a switch saves
 *
 * FPCR is the thread's. FPSR stays as it is at a switch.
 */
#ifndef WEFT_ARCH_FRAME_H
#define WEFT_ARCH_FRAME_H

/* The frame that a switch leaves at the saved sp; context.S draws it. */
#define FRAME_FP	0	/* x29, then x30: a frame record */
#define FRAME_PC	8
#define FRAME_X19	16	/* to x28, 80 bytes */
#define FRAME_D8	96	/* to d15, 64 bytes */
#define FRAME_FPCR	160	/* 8 bytes, then 8 unused */
#define FRAME_BYTES	176

/*
 * The same for debuggers: each register's name, where it lies, and which word of a core
 * file's registers it is (struct user_pt_regs). Then the words of two others.
 */
#define WEFTI_ARCH_FRAME(each) \
	each("x29", FRAME_FP, 29) each("x30", FRAME_PC, 30) \
	each("pc", FRAME_PC, 32) \
	each("x19", FRAME_X19, 19) each("x20", FRAME_X19 + 8, 20) \
	each("x21", FRAME_X19 + 16, 21) each("x22", FRAME_X19 + 24, 22) \
	each("x23", FRAME_X19 + 32, 23) each("x24", FRAME_X19 + 40, 24) \
	each("x25", FRAME_X19 + 48, 25) each("x26", FRAME_X19 + 56, 26) \
	each("x27", FRAME_X19 + 64, 27) each("x28", FRAME_X19 + 72, 28)
#define WEFTI_ARCH_CORE_SP	31
#define WEFTI_ARCH_CORE_TP	-1	/* a note of its own, NT_ARM_TLS */

#ifndef __ASSEMBLER__
#include <stdint.h>

/* What a debugger or an unwinder needs from a parked context. */
struct wefti_arch_regs {
	uintptr_t pc, sp, fp;	/* fp is x29; the names are the same on all */
	uintptr_t x[10];	/* x19 to x28 */
};
#endif
#endif
