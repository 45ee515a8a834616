/* SPDX-License-Identifier: MIT */
/*
 * arch/x86_64/vfork.S - vfork() for the preload library
 *
 * The child runs on its parent's stack, and returns from here first: what the
 * stack held by then is the child's to overwrite. So the return address waits
 * in rdi, which a system call leaves alone (the psABI's appendix A.2.1: it
 * changes rax, rcx and r11), and which each of the two has for itself.
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
	jmp	wefti_vfork_end		/* returns to our caller */
1:	ret
	.cfi_endproc
	.size	vfork, . - vfork
	.globl	__vfork			/* libc's second name */
	.type	__vfork, @function
	.set	__vfork, vfork

	.hidden	wefti_vfork_begin
	.hidden	wefti_vfork_end
	.section .note.GNU-stack, "", @progbits
