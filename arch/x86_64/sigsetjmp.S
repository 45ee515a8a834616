/* SPDX-License-Identifier: MIT */
/*
 * arch/x86_64/sigsetjmp.S - __sigsetjmp(), setjmp() for the preload library
 *
 * It saves its caller's frame. So libc's function is jumped to, not called.
 */
	.text
	.globl	setjmp			/* the function: saves the mask */
	.type	setjmp, @function
	.p2align 4
	.cfi_startproc
setjmp:
	endbr64
	movl	$1, %esi
	jmp	.Lsigsetjmp
	.cfi_endproc
	.size	setjmp, . - setjmp

	.globl	__sigsetjmp
	.type	__sigsetjmp, @function
	.p2align 4
	.cfi_startproc
__sigsetjmp:
	endbr64
.Lsigsetjmp:
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp		/* calls want it 16-byte aligned */
	.cfi_adjust_cfa_offset 8
	call	wefti_jump_note
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
	.cfi_endproc
	.size	__sigsetjmp, . - __sigsetjmp

	.hidden	wefti_jump_note
	.section .note.GNU-stack, "", @progbits
