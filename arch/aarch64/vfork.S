/* SPDX-License-Identifier: MIT */
/*
 * arch/aarch64/vfork.S - vfork() for the preload library
 *
 * The child runs on its parent's stack, and returns from here first. It may overwrite
 * what the stack held. So the return address is kept in x30, which a system call
 * preserves and of which parent and child each have their own. There is no SYS_vfork:
 * vfork() is clone() with these flags.
 */
#include <sys/syscall.h>

#define VFORK_FLAGS	0x4111		/* CLONE_VFORK | CLONE_VM | SIGCHLD */

	.text
	.globl	vfork
	.type	vfork, %function
	.p2align 4
	.cfi_startproc
vfork:
	stp	x29, x30, [sp, -16]!
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov	x29, sp
	bl	wefti_vfork_begin
	ldp	x29, x30, [sp], 16
	.cfi_adjust_cfa_offset -16
	.cfi_restore x29
	.cfi_restore x30
	mov	x0, VFORK_FLAGS
	mov	x1, xzr			/* this stack */
	mov	x2, xzr
	mov	x3, xzr
	mov	x4, xzr
	mov	x8, SYS_clone
	svc	0
	cbz	x0, 1f			/* the child */
	b	wefti_vfork_end		/* returns to the caller */
1:	ret
	.cfi_endproc
	.size	vfork, . - vfork
	.globl	__vfork			/* libc's second name */
	.type	__vfork, %function
	.set	__vfork, vfork

	.hidden	wefti_vfork_begin
	.hidden	wefti_vfork_end
	.section .note.GNU-stack, "", %progbits
