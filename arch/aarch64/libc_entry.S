/* SPDX-License-Identifier: MIT */
/*
 * arch/aarch64/libc_entry.S - jumps to each of libc's functions that weft calls
 *
 * wefti_libc_NAME jumps to the address in its word of the table. At first that is the
 * code behind it, which makes os/libc/libc.c fill the table; from then on it is libc's
 * function. That function finds its arguments, its return address and the stack as if
 * it had been called directly, so setjmp() and its kin work too. x16 and x17 are free
 * between a caller and a function (AAPCS64, 6.1.1); a jump by them may land on a "bti
 * c" (hint 34).
 */
#include "os/libc/libc_names.h"

#define ENTRY(name)							\
	.globl	wefti_libc_##name;					\
	.hidden	wefti_libc_##name;					\
	.type	wefti_libc_##name, %function;				\
	.p2align 4;							\
wefti_libc_##name:							\
	.cfi_startproc;							\
	hint	34;							\
	adrp	x16, 1f;						\
	ldr	x16, [x16, :lo12:1f];					\
	br	x16;							\
2:	hint	34;							\
	adrp	x17, 1f;						\
	add	x17, x17, :lo12:1f;					\
	b	find;							\
	.cfi_endproc;							\
	.size	wefti_libc_##name, . - wefti_libc_##name;		\
	.pushsection .data.rel.local.wefti_libc, "aw", %progbits;	\
1:	.xword	2b;							\
	.popsection;

	.section .data.rel.local.wefti_libc, "aw", %progbits
	.globl	wefti_libc_table
	.hidden	wefti_libc_table
	.type	wefti_libc_table, %object
	.p2align 3
wefti_libc_table:

	.text
/* x17: the word. All argument registers are preserved. */
	.type	find, %function
	.p2align 4
find:
	.cfi_startproc
	stp	x29, x30, [sp, -224]!
	.cfi_adjust_cfa_offset 224
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov	x29, sp
	stp	x0, x1, [sp, 16]
	stp	x2, x3, [sp, 32]
	stp	x4, x5, [sp, 48]
	stp	x6, x7, [sp, 64]
	str	x8, [sp, 80]
	stp	q0, q1, [sp, 96]
	stp	q2, q3, [sp, 128]
	stp	q4, q5, [sp, 160]
	stp	q6, q7, [sp, 192]
	mov	x0, x17
	bl	wefti_os_libc_resolve
	mov	x16, x0
	ldp	x0, x1, [sp, 16]
	ldp	x2, x3, [sp, 32]
	ldp	x4, x5, [sp, 48]
	ldp	x6, x7, [sp, 64]
	ldr	x8, [sp, 80]
	ldp	q0, q1, [sp, 96]
	ldp	q2, q3, [sp, 128]
	ldp	q4, q5, [sp, 160]
	ldp	q6, q7, [sp, 192]
	ldp	x29, x30, [sp], 224
	.cfi_adjust_cfa_offset -224
	.cfi_restore x29
	.cfi_restore x30
	br	x16
	.cfi_endproc
	.size	find, . - find

	WEFTI_LIBC_ONLY(ENTRY)
	WEFTI_LIBC_INTERPOSED(ENTRY)

	.hidden	wefti_os_libc_resolve
	.section .note.GNU-stack, "", %progbits
