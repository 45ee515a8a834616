/* SPDX-License-Identifier: MIT */
/*
 * arch/aarch64/dlopen.S - dlopen() for the preload library
 *
 * libc depends on its caller's address. So libc's dlopen() may have to be jumped to,
 * not called.
 */
	.text
	.globl	dlopen
	.type	dlopen, %function
	.p2align 4
	.cfi_startproc
dlopen:					/* x0: file, w1: mode */
	stp	x29, x30, [sp, -32]!
	.cfi_adjust_cfa_offset 32
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov	x29, sp
	stp	x0, x1, [sp, 16]
	mov	x2, x30			/* the caller */
	bl	wefti_dlopen
	mov	x16, x0
	mov	x17, x1
	ldp	x0, x1, [sp, 16]
	ldp	x29, x30, [sp], 32
	.cfi_adjust_cfa_offset -32
	.cfi_restore x29
	.cfi_restore x30
	cbz	x16, 1f
	br	x16
1:	mov	x0, x17
	ret
	.cfi_endproc
	.size	dlopen, . - dlopen

	.hidden	wefti_dlopen
	.section .note.GNU-stack, "", %progbits
