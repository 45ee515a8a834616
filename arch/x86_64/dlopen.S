/* SPDX-License-Identifier: MIT */
/*
 * arch/x86_64/dlopen.S - dlopen() for the preload library
 *
 * libc depends on its caller's address. So libc's dlopen() may have to be jumped to,
 * not called.
 */
	.text
	.globl	dlopen
	.type	dlopen, @function
	.p2align 4
	.cfi_startproc
dlopen:					/* rdi: file, esi: mode */
	endbr64
	movq	(%rsp), %rdx		/* the caller */
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp		/* calls want it 16-byte aligned */
	.cfi_adjust_cfa_offset 8
	call	wefti_dlopen
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	testq	%rax, %rax
	jz	1f
	jmp	*%rax
1:	movq	%rdx, %rax
	ret
	.cfi_endproc
	.size	dlopen, . - dlopen

	.hidden	wefti_dlopen
	.section .note.GNU-stack, "", @progbits
