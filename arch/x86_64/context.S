/* SPDX-License-Identifier: MIT */
/*
 * arch/x86_64/context.S - switch from one weft thread to another
 *
 * A switch is an ordinary call, so the compiler has already saved the
 * caller-saved registers. What is left, by the System V AMD64 psABI 3.2.1:
 * rbx, rbp, r12-r15, rsp, the control bits of MXCSR and the x87 control word.
 * The thread pointer (fs) is switched by the caller, where it differs.
 *
 * Frame at the saved sp, low address first (48 + 8 + 8 bytes):
 *
 *	sp +  0   MXCSR (4 bytes), x87 control word (2), unused (2)
 *	sp +  8   r15
 *	sp + 16   r14
 *	sp + 24   r13
 *	sp + 32   r12
 *	sp + 40   rbx
 *	sp + 48   rbp
 *	sp + 56   return address
 *
 * wefti_arch_context_init() builds the same frame by hand: change both.
 */
#include "context.h"

	.macro	save_registers
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r12, 0
	pushq	%r13
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r13, 0
	pushq	%r14
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r14, 0
	pushq	%r15
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r15, 0
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	stmxcsr	FRAME_MXCSR(%rsp)
	fnstcw	FRAME_X87CW(%rsp)
	.endm

/*
 * void *wefti_arch_switch(struct wefti_context *from [rdi],
 *                         const struct wefti_context *to [rsi],
 *                         void *value [rdx])
 *
 * Returns, on the stack of `to`, the value given by whoever switches back.
 *
 * The store to from->sp is plain. No other VCPU may load `from` before this
 * function has left its stack, so the thread must be published (released) by
 * the post-switch action that runs on `to`, never before.
 *
 * The control words are loaded only where they differ. fldcw and ldmxcsr wait
 * for the floating-point unit, while the comparison hides behind a predicted
 * branch. Each word is read in the size in which it was stored, else the read
 * could not be forwarded from the store buffer and would cost more than the
 * load that it saves.
 */
	.text
	.globl	wefti_arch_switch
	.hidden	wefti_arch_switch
	.type	wefti_arch_switch, @function
	.p2align 5
wefti_arch_switch:
	.cfi_startproc
	save_registers
	movl	FRAME_MXCSR(%rsp), %eax
	movzwl	FRAME_X87CW(%rsp), %ecx
	movq	%rsp, CONTEXT_SP(%rdi)
	movq	CONTEXT_SP(%rsi), %rsp	/* from here on: the stack of `to` */

	/*
	 * Both stacks hold the same frame, so the CFI above stays right.
	 * eax, ecx: the control words in force. wefti_arch_jump joins here.
	 */
.Lrestore:
	xorl	FRAME_MXCSR(%rsp), %eax
	testl	$MXCSR_CONTROL, %eax
	jnz	.Lload_mxcsr
.Lmxcsr_done:
	cmpw	%cx, FRAME_X87CW(%rsp)
	jne	.Lload_x87cw
.Lx87cw_done:
	addq	$8, %rsp
	.cfi_remember_state
	.cfi_adjust_cfa_offset -8
	popq	%r15
	.cfi_adjust_cfa_offset -8
	.cfi_restore r15
	popq	%r14
	.cfi_adjust_cfa_offset -8
	.cfi_restore r14
	popq	%r13
	.cfi_adjust_cfa_offset -8
	.cfi_restore r13
	popq	%r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore r12
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbx
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbp
	movq	%rdx, %rax
	ret

	.cfi_restore_state
.Lload_mxcsr:
	ldmxcsr	FRAME_MXCSR(%rsp)
	jmp	.Lmxcsr_done
.Lload_x87cw:
	fldcw	FRAME_X87CW(%rsp)
	jmp	.Lx87cw_done
	.cfi_endproc
	.size	wefti_arch_switch, . - wefti_arch_switch

/*
 * void wefti_arch_jump(const struct wefti_context *to [rdi],
 *                      void *value [rsi])
 *
 * The second half of a switch. The words in force go through the red zone.
 */
	.globl	wefti_arch_jump
	.hidden	wefti_arch_jump
	.type	wefti_arch_jump, @function
	.p2align 4
wefti_arch_jump:
	.cfi_startproc
	stmxcsr	-8(%rsp)
	fnstcw	-4(%rsp)
	movl	-8(%rsp), %eax
	movzwl	-4(%rsp), %ecx
	movq	%rsi, %rdx
	movq	CONTEXT_SP(%rdi), %rsp	/* from here on: the stack of `to` */
	.cfi_def_cfa_offset FRAME_BYTES
	.cfi_rel_offset rbp, FRAME_RBP
	.cfi_rel_offset rbx, FRAME_RBX
	.cfi_rel_offset r12, FRAME_R12
	.cfi_rel_offset r13, FRAME_R13
	.cfi_rel_offset r14, FRAME_R14
	.cfi_rel_offset r15, FRAME_R15
	jmp	.Lrestore
	.cfi_endproc
	.size	wefti_arch_jump, . - wefti_arch_jump

/*
 * void *wefti_arch_start(struct wefti_context *from [rdi],
 *                        void *stack_top [rsi],
 *                        void (*entry)(void *) [rdx], void *value [rcx])
 *
 * The first half of a switch; the control words stay those of the caller.
 */
	.globl	wefti_arch_start
	.hidden	wefti_arch_start
	.type	wefti_arch_start, @function
	.p2align 4
wefti_arch_start:
	.cfi_startproc
	save_registers
	andq	$-16, %rsi
	movq	%rsp, CONTEXT_SP(%rdi)
	movq	%rcx, %rdi
	movq	%rsi, %rsp		/* from here on: the new stack */
	.cfi_undefined rip		/* backtraces end here */
	xorl	%ebp, %ebp
	call	*%rdx
	ud2
	.cfi_endproc
	.size	wefti_arch_start, . - wefti_arch_start

/*
 * Where a new thread first "returns" to: rbx = its entry function (put there
 * by wefti_arch_context_init), rax = the first value switched in, rsp 16-byte
 * aligned. The entry function never returns.
 */
	.globl	wefti_arch_entry
	.hidden	wefti_arch_entry
	.type	wefti_arch_entry, @function
	.p2align 4
	.cfi_startproc
	.cfi_undefined rip		/* backtraces end here */
	nop				/* unwinders look up pc - 1 */
wefti_arch_entry:
	movq	%rax, %rdi
	call	*%rbx
	ud2
	.cfi_endproc
	.size	wefti_arch_entry, . - wefti_arch_entry

	.section .note.GNU-stack, "", @progbits
