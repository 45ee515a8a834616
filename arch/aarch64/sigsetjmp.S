/* SPDX-License-Identifier: MIT */
/*
 * arch/aarch64/sigsetjmp.S - __sigsetjmp(), setjmp() for the preload library
 *
 * It saves its caller's frame. So libc's function is jumped to, not called.
 */
	.text
	.globl	setjmp			/* the function: saves the mask */
	.type	setjmp, %function
	.p2align 4
	.cfi_startproc
setjmp:
	mov	w1, 1
	b	.Lsigsetjmp
	.cfi_endproc
	.size	setjmp, . - setjmp

	.globl	__sigsetjmp
	.type	__sigsetjmp, %function
	.p2align 4
	.cfi_startproc
__sigsetjmp:
.Lsigsetjmp:
	stp	x29, x30, [sp, -32]!
	.cfi_adjust_cfa_offset 32
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov	x29, sp
	stp	x0, x1, [sp, 16]
	bl	wefti_jump_note
	mov	x16, x0
	ldp	x0, x1, [sp, 16]
	ldp	x29, x30, [sp], 32
	.cfi_adjust_cfa_offset -32
	.cfi_restore x29
	.cfi_restore x30
	br	x16
	.cfi_endproc
	.size	__sigsetjmp, . - __sigsetjmp

	.hidden	wefti_jump_note
	.section .note.GNU-stack, "", %progbits
