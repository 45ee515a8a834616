/* SPDX-License-Identifier: MIT */
/*
 * arch/riscv64/context.S - switch from one weft thread to another
 *
 * A switch is an ordinary call, so the compiler has already saved the caller-saved
 * registers, all of the vector registers among them. By the psABI the rest is: s0-s11,
 * the return address in ra, sp, and fs0-fs11. fcsr has the storage duration of a thread
 * there: the rounding mode and the flags. The caller sets the thread pointer (tp) where
 * the next thread has another one than this.
 *
 * Frame at the saved sp, low address first (208 bytes):
 *
 *	sp +   0  ra
 *	sp +   8  s0
 *	sp +  16  s1 to s11
 *	sp + 104  fs0 to fs11
 *	sp + 200  fcsr
 *
 * wefti_arch_context_init() builds the same frame by hand: change both.
 */
#include "context.h"

	/* Does this to each register that has a place in the frame, but not to ra, s0. */
	.macro	each_saved do
	\do	s, s1, FRAME_S1
	\do	s, s2, FRAME_S1 + 8
	\do	s, s3, FRAME_S1 + 16
	\do	s, s4, FRAME_S1 + 24
	\do	s, s5, FRAME_S1 + 32
	\do	s, s6, FRAME_S1 + 40
	\do	s, s7, FRAME_S1 + 48
	\do	s, s8, FRAME_S1 + 56
	\do	s, s9, FRAME_S1 + 64
	\do	s, s10, FRAME_S1 + 72
	\do	s, s11, FRAME_S1 + 80
	\do	f, fs0, FRAME_FS0
	\do	f, fs1, FRAME_FS0 + 8
	\do	f, fs2, FRAME_FS0 + 16
	\do	f, fs3, FRAME_FS0 + 24
	\do	f, fs4, FRAME_FS0 + 32
	\do	f, fs5, FRAME_FS0 + 40
	\do	f, fs6, FRAME_FS0 + 48
	\do	f, fs7, FRAME_FS0 + 56
	\do	f, fs8, FRAME_FS0 + 64
	\do	f, fs9, FRAME_FS0 + 72
	\do	f, fs10, FRAME_FS0 + 80
	\do	f, fs11, FRAME_FS0 + 88
	.endm

	.macro	save kind, reg, at
	.ifc	\kind, f
	fsd	\reg, \at(sp)
	.else
	sd	\reg, \at(sp)
	.endif
	.endm

	.macro	restore kind, reg, at
	.ifc	\kind, f
	fld	\reg, \at(sp)
	.else
	ld	\reg, \at(sp)
	.endif
	.endm

	.macro	is_saved kind, reg, at
	.cfi_rel_offset \reg, \at
	.endm

	.macro	is_restored kind, reg, at
	.cfi_restore \reg
	.endm

	/* What the CFI says while sp points to a complete frame. */
	.macro	frame_is_complete
	.cfi_def_cfa_offset FRAME_BYTES
	.cfi_rel_offset ra, FRAME_PC
	.cfi_rel_offset s0, FRAME_FP
	each_saved is_saved
	.endm

	/* Until the last store the registers still hold their saved values. */
	.macro	save_registers
	addi	sp, sp, -FRAME_BYTES
	.cfi_def_cfa_offset FRAME_BYTES
	sd	ra, FRAME_PC(sp)
	sd	s0, FRAME_FP(sp)
	each_saved save
	frcsr	t0
	sd	t0, FRAME_FCSR(sp)
	frame_is_complete
	.endm

/*
 * void *wefti_arch_switch(struct wefti_context *from [a0],
 *                         const struct wefti_context *to [a1],
 *                         void *value [a2])
 *
 * Returns, on the stack of `to`, the value given by the thread that switches back.
 *
 * The store to from->sp is plain. No other VCPU may load `from` before this function
 * has left its stack. So the post-switch action that runs on `to` must publish
 * (release) the thread, never earlier code.
 *
 * fcsr is written only if it differs: a write may drain the pipeline.
 */
	.text
	.globl	wefti_arch_switch
	.hidden	wefti_arch_switch
	.type	wefti_arch_switch, %function
	.p2align 4
wefti_arch_switch:
	.cfi_startproc
	save_registers
	sd	sp, CONTEXT_SP(a0)
	ld	sp, CONTEXT_SP(a1)	/* from here on: the stack of `to` */

	/*
	 * Both stacks hold the same frame, so the CFI above stays right.
	 * t0: the fcsr in force. wefti_arch_jump joins here.
	 */
.Lrestore:
	ld	t1, FRAME_FCSR(sp)
	bne	t0, t1, .Lload_fcsr
.Lfcsr_done:
	ld	ra, FRAME_PC(sp)
	ld	s0, FRAME_FP(sp)
	each_saved restore
	mv	a0, a2
	.cfi_remember_state
	/* The stack holds what the CFI says until sp moves. */
	addi	sp, sp, FRAME_BYTES
	.cfi_def_cfa_offset 0
	.cfi_restore ra
	.cfi_restore s0
	each_saved is_restored
	ret

	.cfi_restore_state
.Lload_fcsr:
	fscsr	t1
	j	.Lfcsr_done
	.cfi_endproc
	.size	wefti_arch_switch, . - wefti_arch_switch

/*
 * void wefti_arch_jump(const struct wefti_context *to [a0],
 *                      void *value [a1])
 *
 * The second half of a switch.
 */
	.globl	wefti_arch_jump
	.hidden	wefti_arch_jump
	.type	wefti_arch_jump, %function
	.p2align 4
wefti_arch_jump:
	.cfi_startproc
	frcsr	t0
	mv	a2, a1
	ld	sp, CONTEXT_SP(a0)	/* from here on: the stack of `to` */
	frame_is_complete
	j	.Lrestore
	.cfi_endproc
	.size	wefti_arch_jump, . - wefti_arch_jump

/*
 * void *wefti_arch_start(struct wefti_context *from [a0],
 *                        void *stack_top [a1],
 *                        wefti_arch_entry_fn *entry [a2], void *value [a3])
 *
 * The first half of a switch; fcsr stays the caller's.
 */
	.globl	wefti_arch_start
	.hidden	wefti_arch_start
	.type	wefti_arch_start, %function
	.p2align 4
wefti_arch_start:
	.cfi_startproc
	save_registers
	sd	sp, CONTEXT_SP(a0)
	andi	sp, a1, ~15		/* from here on: the new stack */
	.cfi_undefined ra		/* backtraces end here */
	mv	a0, a3
	li	s0, 0
	jalr	a2
	j	wefti_arch_jump		/* a0, a1: where to go on, the value */
	.cfi_endproc
	.size	wefti_arch_start, . - wefti_arch_start

/*
 * The address to which a new thread first "returns": s1 = its entry function (set by
 * wefti_arch_context_init), a0 = the first value switched in, sp 16-byte aligned, s0 =
 * 0.
 */
	.globl	wefti_arch_entry
	.hidden	wefti_arch_entry
	.type	wefti_arch_entry, %function
	.p2align 4
	.cfi_startproc
	.cfi_undefined ra		/* backtraces end here */
	nop				/* unwinders look up pc - 1 */
wefti_arch_entry:
	jalr	s1
	j	wefti_arch_jump
	.cfi_endproc
	.size	wefti_arch_entry, . - wefti_arch_entry

/*
 * void wefti_arch_call_on(void *stack_top [a0], void (*fn)(void *arg) [a1],
 *                         void *arg [a2])
 *
 * An ordinary call, on another stack. s0 holds the caller's frame, so unwinders go on
 * to the caller.
 */
	.text
	.globl	wefti_arch_call_on
	.hidden	wefti_arch_call_on
	.type	wefti_arch_call_on, %function
	.p2align 4
wefti_arch_call_on:
	.cfi_startproc
	addi	sp, sp, -16
	.cfi_def_cfa_offset 16
	sd	ra, 8(sp)
	sd	s0, 0(sp)
	.cfi_offset ra, -8
	.cfi_offset s0, -16
	addi	s0, sp, 16
	.cfi_def_cfa s0, 0
	andi	sp, a0, ~15		/* from here on: the other stack */
	mv	a0, a2
	jalr	a1
	addi	sp, s0, -16
	.cfi_def_cfa sp, 16
	ld	ra, 8(sp)
	.cfi_restore ra
	ld	s0, 0(sp)
	.cfi_restore s0
	addi	sp, sp, 16
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	wefti_arch_call_on, . - wefti_arch_call_on

/*
 * The thread that runs here, in each TLS block: _Thread_local, initial-exec. cpu.h reads
 * the word by asm alone, which optimizers at link time do not see. So clang's would drop
 * a definition in C.
 */
	.section .tbss, "awT", %nobits
	.globl	wefti_tls_self
	.hidden	wefti_tls_self
	.type	wefti_tls_self, %object
	.size	wefti_tls_self, 8
	.p2align 3
wefti_tls_self:
	.zero	8

	.section .note.GNU-stack, "", %progbits
