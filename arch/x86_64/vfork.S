/* SPDX-License-Identifier: MIT */
/*
 * arch/x86_64/vfork.S - vfork() for the preload library
 *
 * The child runs on its parent's stack, and returns from here first. It may overwrite
 * what the stack held. So the return address is kept in rdi, which a system call
 * preserves (the psABI's appendix A.2.1: it changes rax, rcx and r11) and of which
 * parent and child each have their own.
 */
#include <sys/syscall.h>

	.text
	.globl	vfork
	.type	vfork, @function
	.p2align 4
	.cfi_startproc
vfork:
	endbr64
	subq	$8, %rsp		/* calls want it 16-byte aligned */
	.cfi_adjust_cfa_offset 8
	call	wefti_vfork_begin
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	.cfi_register rip, rdi
	movl	$SYS_vfork, %eax
	syscall
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rip, 0
	testq	%rax, %rax
	jz	1f			/* the child */
	movq	%rax, %rdi
	jmp	wefti_vfork_end		/* returns to the caller */
1:	ret
	.cfi_endproc
	.size	vfork, . - vfork
	.globl	__vfork			/* libc's second name */
	.type	__vfork, @function
	.set	__vfork, vfork

	.hidden	wefti_vfork_begin
	.hidden	wefti_vfork_end
	.section .note.GNU-stack, "", @progbits
