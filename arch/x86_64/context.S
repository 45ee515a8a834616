/* SPDX-License-Identifier: MIT */
/*
 * arch/x86_64/context.S - switch from one weft thread to another
 *
 * A switch is an ordinary call, so the compiler has already saved the caller-saved
 * registers. By the System V AMD64 psABI, 3.2.1, the rest is: rbx, rbp, r12-r15, rsp,
 * the control bits of MXCSR and the x87 control word. MXCSR is saved as a whole, so the
 * status bits of SSE stay with their thread too. The caller sets the thread pointer
 * (fs) where the next thread has another one than this.
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
 *
 * The order below was chosen with a ping-pong of two contexts, on an AMD Zen 3. The
 * figures are nanoseconds for one switch, the minimum of 300 batches. In the first
 * column all returns are predicted; in the second one return is mispredicted, as when
 * two different loops yield:
 *
 *	no control words at all (wrong)			5.1   10.8
 *	both saved, neither loaded (wrong)		5.9   14.2
 *	both saved and loaded				6.5   14.3
 *	both saved, both loaded only if different	8.0   14.9
 *	this: MXCSR loaded, x87 only if different	6.2   12.3
 *	the first of these with pop + jmp for ret	 -    13.5
 *
 * Reading MXCSR back into an integer register to compare it costs more than ldmxcsr;
 * for the x87 word it is the other way round. The load of the next stack pointer comes
 * before fnstcw and stmxcsr, which are slow, so that the loads from the new stack need
 * not wait for them. pop + jmp leaves the processor's return stack one entry off: each
 * later return is mispredicted.
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
	.endm

	.macro	save_control_words
	fnstcw	FRAME_X87CW(%rsp)
	stmxcsr	FRAME_MXCSR(%rsp)
	.endm

	/*
	 * r8 = the frame to continue in, cx = the x87 word in force, rdx = the value to
	 * return. The x87 word was read back in the size in which it was stored.
	 * Otherwise it could not be forwarded from the store buffer.
	 */
	.macro	restore_registers
	cmpw	%cx, FRAME_X87CW(%r8)
	jne	2f
1:	ldmxcsr	FRAME_MXCSR(%r8)
	movq	%r8, %rsp		/* from here on: the stack of `to` */
	.cfi_def_cfa_offset FRAME_BYTES
	.cfi_restore rip
	.cfi_rel_offset rbp, FRAME_RBP
	.cfi_rel_offset rbx, FRAME_RBX
	.cfi_rel_offset r12, FRAME_R12
	.cfi_rel_offset r13, FRAME_R13
	.cfi_rel_offset r14, FRAME_R14
	.cfi_rel_offset r15, FRAME_R15
	addq	$8, %rsp
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
	.endm

	/*
	 * rdi = to, rsi = value. The x87 word in force goes through the red zone.
	 */
	.macro	jump
	movq	CONTEXT_SP(%rdi), %r8
	fnstcw	-8(%rsp)
	movzwl	-8(%rsp), %ecx
	movq	%rsi, %rdx
	.cfi_remember_state
	restore_registers
	.cfi_restore_state
2:	fldcw	FRAME_X87CW(%r8)	/* still on the stack of the caller */
	jmp	1b
	.endm

/*
 * void *wefti_arch_switch(struct wefti_context *from [rdi],
 *                         const struct wefti_context *to [rsi],
 *                         void *value [rdx])
 *
 * Returns, on the stack of `to`, the value given by the thread that switches back.
 *
 * The store to from->sp is plain. No other VCPU may load `from` before this function
 * has left its stack. So the post-switch action that runs on `to` must publish
 * (release) the thread, never earlier code.
 */
	.text
	.globl	wefti_arch_switch
	.hidden	wefti_arch_switch
	.type	wefti_arch_switch, @function
	.p2align 5
wefti_arch_switch:
	.cfi_startproc
	save_registers
	movq	CONTEXT_SP(%rsi), %r8
	save_control_words
	movzwl	FRAME_X87CW(%rsp), %ecx
	movq	%rsp, CONTEXT_SP(%rdi)
	.cfi_remember_state
	restore_registers
	.cfi_restore_state
2:	fldcw	FRAME_X87CW(%r8)	/* still on the stack of `from` */
	jmp	1b
	.cfi_endproc
	.size	wefti_arch_switch, . - wefti_arch_switch

/*
 * void wefti_arch_jump(const struct wefti_context *to [rdi],
 *                      void *value [rsi])
 *
 * The second half of a switch.
 */
	.globl	wefti_arch_jump
	.hidden	wefti_arch_jump
	.type	wefti_arch_jump, @function
	.p2align 4
wefti_arch_jump:
	.cfi_startproc
	jump
	.cfi_endproc
	.size	wefti_arch_jump, . - wefti_arch_jump

/*
 * The same at the end of a stack, with what an entry function has returned in rax and
 * rdx. This is a separate copy because it was not called: the word at rsp is no return
 * address, and is not even in the stack.
 */
	.type	jump_from_end, @function
	.p2align 4
jump_from_end:
	.cfi_startproc
	.cfi_undefined rip		/* backtraces end here */
	movq	%rax, %rdi
	movq	%rdx, %rsi
	jump
	.cfi_endproc
	.size	jump_from_end, . - jump_from_end

/*
 * void *wefti_arch_start(struct wefti_context *from [rdi],
 *                        void *stack_top [rsi],
 *                        wefti_arch_entry_fn *entry [rdx], void *value [rcx])
 *
 * The first half of a switch; the control words stay the caller's. When entry returns
 * to `from` itself, the calls and returns of both stacks together are nested as those
 * of one, so the processor's return stack is right.
 */
	.globl	wefti_arch_start
	.hidden	wefti_arch_start
	.type	wefti_arch_start, @function
	.p2align 4
wefti_arch_start:
	.cfi_startproc
	save_registers
	save_control_words
	andq	$-16, %rsi
	movq	%rsp, CONTEXT_SP(%rdi)
	movq	%rcx, %rdi
	movq	%rsi, %rsp		/* from here on: the new stack */
	.cfi_undefined rip		/* backtraces end here */
	xorl	%ebp, %ebp
	call	*%rdx
	jmp	jump_from_end	/* rax, rdx: where to go on, the value */
	.cfi_endproc
	.size	wefti_arch_start, . - wefti_arch_start

/*
 * The address to which a new thread first "returns": rbx = its entry function (set by
 * wefti_arch_context_init), rax = the first value switched in, rsp 16-byte aligned.
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
	jmp	jump_from_end
	.cfi_endproc
	.size	wefti_arch_entry, . - wefti_arch_entry

/*
 * void wefti_arch_call_on(void *stack_top [rdi], void (*fn)(void *arg) [rsi],
 *                         void *arg [rdx])
 *
 * An ordinary call, on another stack. rbp holds the caller's frame, so unwinders go on
 * to the caller.
 */
	.text
	.globl	wefti_arch_call_on
	.hidden	wefti_arch_call_on
	.type	wefti_arch_call_on, @function
	.p2align 4
wefti_arch_call_on:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	andq	$-16, %rdi
	movq	%rdi, %rsp		/* from here on: the other stack */
	movq	%rdx, %rdi
	call	*%rsi
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	wefti_arch_call_on, . - wefti_arch_call_on

/*
 * The thread that runs here, in each TLS block: _Thread_local, initial-exec. cpu.h reads
 * the word by asm alone, which optimizers at link time do not see. So clang's would drop
 * a definition in C.
 */
	.section .tbss, "awT", @nobits
	.globl	wefti_tls_self
	.hidden	wefti_tls_self
	.type	wefti_tls_self, @object
	.size	wefti_tls_self, 8
	.p2align 3
wefti_tls_self:
	.zero	8

	.section .note.GNU-stack, "", @progbits
