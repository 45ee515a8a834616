/* SPDX-License-Identifier: MIT */
/*
 * arch/x86_64/libc_entry.S - jumps to each of libc's functions that weft calls
 *
 * wefti_libc_NAME jumps to the address in its word of the table. At first that is the
 * code behind it, which makes os/libc/libc.c fill the table; from then on it is libc's
 * function. That function finds its arguments, its return address and the stack as if
 * it had been called directly, so setjmp() and its kin work too. r11 is free between a
 * caller and a function (psABI, 3.2.3).
 */
#include "os/libc/libc_names.h"

#define ENTRY(name)							\
	.globl	wefti_libc_##name;					\
	.hidden	wefti_libc_##name;					\
	.type	wefti_libc_##name, @function;				\
	.p2align 4;							\
wefti_libc_##name:							\
	.cfi_startproc;							\
	endbr64;							\
	jmp	*1f(%rip);						\
2:	endbr64;							\
	leaq	1f(%rip), %r11;						\
	jmp	find;							\
	.cfi_endproc;							\
	.size	wefti_libc_##name, . - wefti_libc_##name;		\
	.pushsection .data.rel.local.wefti_libc, "aw", @progbits;	\
1:	.quad	2b;							\
	.popsection;

	.section .data.rel.local.wefti_libc, "aw", @progbits
	.globl	wefti_libc_table
	.hidden	wefti_libc_table
	.type	wefti_libc_table, @object
	.p2align 3
wefti_libc_table:

	.text
/*
 * r11: the word. All argument registers are preserved: rax has the number of vector
 * registers in use, r10 the frame of a nested function.
 */
	.type	find, @function
	.p2align 4
find:
	.cfi_startproc
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	pushq	%r8
	.cfi_adjust_cfa_offset 8
	pushq	%r9
	.cfi_adjust_cfa_offset 8
	pushq	%r10
	.cfi_adjust_cfa_offset 8
	subq	$136, %rsp		/* calls want it 16-byte aligned */
	.cfi_adjust_cfa_offset 136
	movups	%xmm0, (%rsp)
	movups	%xmm1, 16(%rsp)
	movups	%xmm2, 32(%rsp)
	movups	%xmm3, 48(%rsp)
	movups	%xmm4, 64(%rsp)
	movups	%xmm5, 80(%rsp)
	movups	%xmm6, 96(%rsp)
	movups	%xmm7, 112(%rsp)
	movq	%r11, %rdi
	call	wefti_os_libc_resolve
	movq	%rax, %r11
	movups	(%rsp), %xmm0
	movups	16(%rsp), %xmm1
	movups	32(%rsp), %xmm2
	movups	48(%rsp), %xmm3
	movups	64(%rsp), %xmm4
	movups	80(%rsp), %xmm5
	movups	96(%rsp), %xmm6
	movups	112(%rsp), %xmm7
	addq	$136, %rsp
	.cfi_adjust_cfa_offset -136
	popq	%r10
	.cfi_adjust_cfa_offset -8
	popq	%r9
	.cfi_adjust_cfa_offset -8
	popq	%r8
	.cfi_adjust_cfa_offset -8
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	popq	%rax
	.cfi_adjust_cfa_offset -8
	jmp	*%r11
	.cfi_endproc
	.size	find, . - find

	WEFTI_LIBC_ONLY(ENTRY)
	WEFTI_LIBC_INTERPOSED(ENTRY)

	.hidden	wefti_os_libc_resolve
	.section .note.GNU-stack, "", @progbits
