/* SPDX-License-Identifier: MIT */
/*
 * arch/riscv64/libc_entry.S - jumps to each of libc's functions that weft calls
 *
 * wefti_libc_NAME jumps to the address in its word of the table. At first that is the
 * code behind it, which makes os/libc/libc.c fill the table; from then on it is libc's
 * function. That function finds its arguments, its return address and the stack as if
 * it had been called directly, so setjmp() and its kin work too. t1 and t3 are free
 * between a caller and a function: procedure linkage tables use them too.
 */
#include "os/libc/libc_names.h"

#define ENTRY(name)							\
	.globl	wefti_libc_##name;					\
	.hidden	wefti_libc_##name;					\
	.type	wefti_libc_##name, %function;				\
	.p2align 4;							\
wefti_libc_##name:							\
	.cfi_startproc;							\
	ld	t1, 1f;							\
	jr	t1;							\
2:	lla	t3, 1f;							\
	j	find;							\
	.cfi_endproc;							\
	.size	wefti_libc_##name, . - wefti_libc_##name;		\
	.pushsection .data.rel.local.wefti_libc, "aw", %progbits;	\
1:	.dword	2b;							\
	.popsection;

	.section .data.rel.local.wefti_libc, "aw", %progbits
	.globl	wefti_libc_table
	.hidden	wefti_libc_table
	.type	wefti_libc_table, %object
	.p2align 3
wefti_libc_table:

	.text
/* t3: the word. All argument registers are preserved. */
	.type	find, %function
	.p2align 4
find:
	.cfi_startproc
	addi	sp, sp, -144
	.cfi_adjust_cfa_offset 144
	sd	ra, 136(sp)
	.cfi_rel_offset ra, 136
	sd	a0, 0(sp)
	sd	a1, 8(sp)
	sd	a2, 16(sp)
	sd	a3, 24(sp)
	sd	a4, 32(sp)
	sd	a5, 40(sp)
	sd	a6, 48(sp)
	sd	a7, 56(sp)
	fsd	fa0, 64(sp)
	fsd	fa1, 72(sp)
	fsd	fa2, 80(sp)
	fsd	fa3, 88(sp)
	fsd	fa4, 96(sp)
	fsd	fa5, 104(sp)
	fsd	fa6, 112(sp)
	fsd	fa7, 120(sp)
	mv	a0, t3
	call	wefti_os_libc_resolve
	mv	t1, a0
	ld	a0, 0(sp)
	ld	a1, 8(sp)
	ld	a2, 16(sp)
	ld	a3, 24(sp)
	ld	a4, 32(sp)
	ld	a5, 40(sp)
	ld	a6, 48(sp)
	ld	a7, 56(sp)
	fld	fa0, 64(sp)
	fld	fa1, 72(sp)
	fld	fa2, 80(sp)
	fld	fa3, 88(sp)
	fld	fa4, 96(sp)
	fld	fa5, 104(sp)
	fld	fa6, 112(sp)
	fld	fa7, 120(sp)
	ld	ra, 136(sp)
	.cfi_restore ra
	addi	sp, sp, 144
	.cfi_adjust_cfa_offset -144
	jr	t1
	.cfi_endproc
	.size	find, . - find

	WEFTI_LIBC_ONLY(ENTRY)
	WEFTI_LIBC_INTERPOSED(ENTRY)

	.hidden	wefti_os_libc_resolve
	.section .note.GNU-stack, "", %progbits
