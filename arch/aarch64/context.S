/* SPDX-License-Identifier: MIT */
/*
 * arch/aarch64/context.S - switch from one weft thread to another
 *
 * A switch is an ordinary call, so the compiler has already saved the caller-saved
 * registers. By the AAPCS64, 6.1, the rest is: x19-x29, the return address in x30, sp,
 * the low halves of v8-v15, and the control register FPCR (6.1.2). The caller sets the
 * thread pointer (tpidr_el0) where the next thread has another one than this.
 *
 * Frame at the saved sp, low address first (176 bytes):
 *
 *	sp +   0  x29, x30	a frame record: walkers by x29 pass through
 *	sp +  16  x19, x20
 *	sp +  32  x21, x22
 *	sp +  48  x23, x24
 *	sp +  64  x25, x26
 *	sp +  80  x27, x28
 *	sp +  96  d8, d9
 *	sp + 112  d10, d11
 *	sp + 128  d12, d13
 *	sp + 144  d14, d15
 *	sp + 160  fpcr, unused
 *
 * wefti_arch_context_init() builds the same frame by hand: change both.
 */
#include "context.h"

	.macro	saved_pair first, second, at
	.cfi_rel_offset \first, \at
	.cfi_rel_offset \second, \at + 8
	.endm

	/* What the CFI says while sp points to a complete frame. */
	.macro	frame_is_complete
	.cfi_def_cfa_offset FRAME_BYTES
	saved_pair x29, x30, FRAME_FP
	saved_pair x19, x20, FRAME_X19
	saved_pair x21, x22, FRAME_X19 + 16
	saved_pair x23, x24, FRAME_X19 + 32
	saved_pair x25, x26, FRAME_X19 + 48
	saved_pair x27, x28, FRAME_X19 + 64
	saved_pair d8, d9, FRAME_D8
	saved_pair d10, d11, FRAME_D8 + 16
	saved_pair d12, d13, FRAME_D8 + 32
	saved_pair d14, d15, FRAME_D8 + 48
	.endm

	/* Until the last store the registers still hold their saved values. */
	.macro	save_registers
	stp	x29, x30, [sp, #-FRAME_BYTES]!
	.cfi_def_cfa_offset FRAME_BYTES
	stp	x19, x20, [sp, #FRAME_X19]
	stp	x21, x22, [sp, #FRAME_X19 + 16]
	stp	x23, x24, [sp, #FRAME_X19 + 32]
	stp	x25, x26, [sp, #FRAME_X19 + 48]
	stp	x27, x28, [sp, #FRAME_X19 + 64]
	stp	d8, d9, [sp, #FRAME_D8]
	stp	d10, d11, [sp, #FRAME_D8 + 16]
	stp	d12, d13, [sp, #FRAME_D8 + 32]
	stp	d14, d15, [sp, #FRAME_D8 + 48]
	mrs	x9, fpcr
	str	x9, [sp, #FRAME_FPCR]
	frame_is_complete
	.endm

/*
 * void *wefti_arch_switch(struct wefti_context *from [x0],
 *                         const struct wefti_context *to [x1],
 *                         void *value [x2])
 *
 * Returns, on the stack of `to`, the value given by the thread that switches back.
 *
 * The store to from->sp is plain. No other VCPU may load `from` before this function
 * has left its stack. So the post-switch action that runs on `to` must publish
 * (release) the thread, never earlier code.
 *
 * FPCR is written only if it differs: a write may drain the pipeline.
 */
	.text
	.globl	wefti_arch_switch
	.hidden	wefti_arch_switch
	.type	wefti_arch_switch, %function
	.p2align 4
wefti_arch_switch:
	.cfi_startproc
	save_registers
	mov	x10, sp
	str	x10, [x0, #CONTEXT_SP]
	ldr	x10, [x1, #CONTEXT_SP]
	mov	sp, x10			/* from here on: the stack of `to` */

	/*
	 * Both stacks hold the same frame, so the CFI above stays right.
	 * x9: the fpcr in force. wefti_arch_jump joins here.
	 */
.Lrestore:
	ldr	x10, [sp, #FRAME_FPCR]
	cmp	x9, x10
	b.ne	.Lload_fpcr
.Lfpcr_done:
	ldp	x19, x20, [sp, #FRAME_X19]
	ldp	x21, x22, [sp, #FRAME_X19 + 16]
	ldp	x23, x24, [sp, #FRAME_X19 + 32]
	ldp	x25, x26, [sp, #FRAME_X19 + 48]
	ldp	x27, x28, [sp, #FRAME_X19 + 64]
	ldp	d8, d9, [sp, #FRAME_D8]
	ldp	d10, d11, [sp, #FRAME_D8 + 16]
	ldp	d12, d13, [sp, #FRAME_D8 + 32]
	ldp	d14, d15, [sp, #FRAME_D8 + 48]
	mov	x0, x2
	.cfi_remember_state
	/* The stack holds what the CFI says until sp moves. */
	ldp	x29, x30, [sp], #FRAME_BYTES
	.cfi_def_cfa_offset 0
	.irp	r, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30
	.cfi_restore \r
	.endr
	.irp	r, d8, d9, d10, d11, d12, d13, d14, d15
	.cfi_restore \r
	.endr
	ret

	.cfi_restore_state
.Lload_fpcr:
	msr	fpcr, x10
	b	.Lfpcr_done
	.cfi_endproc
	.size	wefti_arch_switch, . - wefti_arch_switch

/*
 * void wefti_arch_jump(const struct wefti_context *to [x0],
 *                      void *value [x1])
 *
 * The second half of a switch.
 */
	.globl	wefti_arch_jump
	.hidden	wefti_arch_jump
	.type	wefti_arch_jump, %function
	.p2align 4
wefti_arch_jump:
	.cfi_startproc
	mrs	x9, fpcr
	mov	x2, x1
	ldr	x10, [x0, #CONTEXT_SP]
	mov	sp, x10			/* from here on: the stack of `to` */
	frame_is_complete
	b	.Lrestore
	.cfi_endproc
	.size	wefti_arch_jump, . - wefti_arch_jump

/*
 * void *wefti_arch_start(struct wefti_context *from [x0],
 *                        void *stack_top [x1],
 *                        wefti_arch_entry_fn *entry [x2], void *value [x3])
 *
 * The first half of a switch; FPCR stays the caller's.
 */
	.globl	wefti_arch_start
	.hidden	wefti_arch_start
	.type	wefti_arch_start, %function
	.p2align 4
wefti_arch_start:
	.cfi_startproc
	save_registers
	mov	x10, sp
	str	x10, [x0, #CONTEXT_SP]
	and	x1, x1, #~15
	mov	sp, x1			/* from here on: the new stack */
	.cfi_undefined x30		/* backtraces end here */
	mov	x0, x3
	mov	x29, xzr
	blr	x2
	b	wefti_arch_jump		/* x0, x1: where to go on, the value */
	.cfi_endproc
	.size	wefti_arch_start, . - wefti_arch_start

/*
 * The address to which a new thread first "returns": x19 = its entry function (set by
 * wefti_arch_context_init), x0 = the first value switched in, sp 16-byte aligned, x29 =
 * 0.
 */
	.globl	wefti_arch_entry
	.hidden	wefti_arch_entry
	.type	wefti_arch_entry, %function
	.p2align 4
	.cfi_startproc
	.cfi_undefined x30		/* backtraces end here */
	nop				/* unwinders look up pc - 4 */
wefti_arch_entry:
	blr	x19
	b	wefti_arch_jump
	.cfi_endproc
	.size	wefti_arch_entry, . - wefti_arch_entry

/*
 * void wefti_arch_call_on(void *stack_top [x0], void (*fn)(void *arg) [x1],
 *                         void *arg [x2])
 *
 * An ordinary call, on another stack. x29 holds the caller's frame, so unwinders go on
 * to the caller.
 */
	.text
	.globl	wefti_arch_call_on
	.hidden	wefti_arch_call_on
	.type	wefti_arch_call_on, %function
	.p2align 4
wefti_arch_call_on:
	.cfi_startproc
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x29, sp
	.cfi_def_cfa_register x29
	and	x0, x0, #~15
	mov	sp, x0			/* from here on: the other stack */
	mov	x0, x2
	blr	x1
	mov	sp, x29
	.cfi_def_cfa_register sp
	ldp	x29, x30, [sp], #16
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
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
