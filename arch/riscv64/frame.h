/* SPDX-License-Identifier: MIT */
/*
 * arch/riscv64/frame.h - what a switch saves
 *
 * fcsr is the thread's: the rounding mode, and the flags too.
 */
#ifndef WEFT_ARCH_FRAME_H
#define WEFT_ARCH_FRAME_H

#ifndef __riscv_float_abi_double
#error "weft knows the ABI lp64d only: doubles are passed in registers"
#endif

/* The frame that a switch leaves at the saved sp; context.S draws it. */
#define FRAME_PC	0	/* ra */
#define FRAME_FP	8	/* s0 */
#define FRAME_S1	16	/* to s11, 88 bytes */
#define FRAME_FS0	104	/* to fs11, 96 bytes */
#define FRAME_FCSR	200
#define FRAME_BYTES	208

/*
 * The same for debuggers: each register's name, where it lies, and which word of a core
 * file's registers it is (struct user_regs_struct). Then the words of two others.
 */
#define WEFTI_ARCH_FRAME(each) \
	each("pc", FRAME_PC, 0) each("ra", FRAME_PC, 1) each("fp", FRAME_FP, 8) \
	each("s1", FRAME_S1, 9) \
	each("s2", FRAME_S1 + 8, 18) each("s3", FRAME_S1 + 16, 19) \
	each("s4", FRAME_S1 + 24, 20) each("s5", FRAME_S1 + 32, 21) \
	each("s6", FRAME_S1 + 40, 22) each("s7", FRAME_S1 + 48, 23) \
	each("s8", FRAME_S1 + 56, 24) each("s9", FRAME_S1 + 64, 25) \
	each("s10", FRAME_S1 + 72, 26) each("s11", FRAME_S1 + 80, 27)
#define WEFTI_ARCH_CORE_SP	2
#define WEFTI_ARCH_CORE_TP	4

#ifndef __ASSEMBLER__
#include <stdint.h>

/* What a debugger or an unwinder needs from a parked context. */
struct wefti_arch_regs {
	uintptr_t pc, sp, fp;	/* fp is s0; the names are the same on all */
	uintptr_t s[11];	/* s1 to s11 */
};
#endif
#endif
