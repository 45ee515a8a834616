/* SPDX-License-Identifier: MIT */
/*
 * arch/x86_64/context.h - the saved half of a weft thread
 *
 * Included by C and by context.S, so only macros outside the C part.
 */
#ifndef WEFT_ARCH_CONTEXT_H
#define WEFT_ARCH_CONTEXT_H

#define CONTEXT_SP	0	/* offsetof(struct wefti_context, sp) */

/* The frame that a switch leaves at the saved sp; context.S draws it. */
#define FRAME_MXCSR	0	/* 4 bytes */
#define FRAME_X87CW	4	/* 2 bytes, then 2 unused */
#define FRAME_R15	8
#define FRAME_R14	16
#define FRAME_R13	24
#define FRAME_R12	32
#define FRAME_RBX	40
#define FRAME_RBP	48
#define FRAME_PC	56
#define FRAME_BYTES	64

#ifndef __ASSEMBLER__
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

struct wefti_context {
	void *sp;		/* everything else is saved on its own stack */
};

_Static_assert(offsetof(struct wefti_context, sp) == CONTEXT_SP,
	       "context.S and struct wefti_context disagree");

/* What a debugger or an unwinder needs from a parked context. */
struct wefti_arch_regs {
	uintptr_t pc, sp, fp;	/* fp is rbp; the names are the same on all */
	uintptr_t rbx, r12, r13, r14, r15;
};

/*
 * What the first function on a stack returns, if it does: the context to continue, and
 * the value for it. Such a return is a wefti_arch_jump() that the processor's return
 * stack can follow.
 */
struct wefti_arch_next {
	const struct wefti_context *to;
	void *value;
};

typedef struct wefti_arch_next wefti_arch_entry_fn(void *value);

/*
 * Saves the caller in `from` and continues in `to`, where the switch (or, the first
 * time, the entry function) gets `value`. Returns the value given by the thread that
 * switches back. Preserves what the psABI says that a call preserves, and the status
 * bits of SSE. The x87 status bits and the thread pointer stay as they are: if the
 * latter differs, the caller sets it.
 */
void *wefti_arch_switch(struct wefti_context *from,
			const struct wefti_context *to, void *value);

/*
 * Builds a first frame below stack_top (rounded down to 16): the first switch to ctx
 * calls entry(value). The floating-point control words are the caller's, as C wants
 * them inherited. entry may return.
 */
void wefti_arch_context_init(struct wefti_context *ctx, void *stack_top,
			     wefti_arch_entry_fn *entry);

/* Continues in `to` and forgets the caller: a thread's exit. */
_Noreturn void wefti_arch_jump(const struct wefti_context *to, void *value);

/*
 * Calls fn(arg) at stack_top (rounded down to 16). For unwinders this is an ordinary
 * call: they go on to the caller's frames, on the caller's stack.
 */
void wefti_arch_call_on(void *stack_top, void (*fn)(void *arg), void *arg);

/*
 * Saves the caller in `from` as a switch does, and calls entry(value) at stack_top
 * (rounded down to 16) directly. So there is no first frame that would be written only
 * to be read back at once. Returns what a switch back gives.
 */
void *wefti_arch_start(struct wefti_context *from, void *stack_top,
		       wefti_arch_entry_fn *entry, void *value);

/* The registers of a parked context, as they will be when its switch returns. */
void wefti_arch_context_regs(const struct wefti_context *ctx,
			     struct wefti_arch_regs *out);

/* The same in the form that unw_init_local() takes; zeroes the rest. */
void wefti_arch_fill_ucontext(const struct wefti_context *ctx,
			      ucontext_t *out);

/* Where a signal interrupted its thread. */
static inline uintptr_t wefti_arch_ucontext_pc(const ucontext_t *uc)
{
	return (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
}

static inline uintptr_t wefti_arch_ucontext_sp(const ucontext_t *uc)
{
	return (uintptr_t)uc->uc_mcontext.gregs[REG_RSP];
}

/* The arguments of the system call that an instruction made; and its answer. */
static inline void wefti_arch_ucontext_args(const ucontext_t *uc, long *six)
{
	static const int reg[] = {
		REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9,
	};

	for (int i = 0; i < 6; i++)
		six[i] = (long)uc->uc_mcontext.gregs[reg[i]];
}

static inline void wefti_arch_ucontext_answer(ucontext_t *uc, long result)
{
	uc->uc_mcontext.gregs[REG_RAX] = result;
}

/*
 * The number of the system call whose instruction comes next; also of one that a signal
 * has interrupted and that will be restarted. -1: there is none.
 */
static inline long wefti_arch_ucontext_call(const ucontext_t *uc)
{
	const unsigned char *next = (const void *)wefti_arch_ucontext_pc(uc);

	return next[0] == 0x0f && next[1] == 0x05 ?
	       (long)uc->uc_mcontext.gregs[REG_RAX] : -1;
}

/* Is the thread right behind a system call? It leaves its return address in rcx. */
static inline int wefti_arch_ucontext_is_behind_call(const ucontext_t *uc)
{
	return uc->uc_mcontext.gregs[REG_RCX] == uc->uc_mcontext.gregs[REG_RIP];
}

/* Is it behind one that a signal has ended with EINTR? */
static inline int wefti_arch_ucontext_was_ended(const ucontext_t *uc)
{
	const unsigned char *next = (const void *)wefti_arch_ucontext_pc(uc);

	return next[-2] == 0x0f && next[-1] == 0x05 &&
	       uc->uc_mcontext.gregs[REG_RAX] == -EINTR;
}

/* Skips the system call, as if it had returned this. */
static inline void wefti_arch_ucontext_skip_call(ucontext_t *uc, long result)
{
	uc->uc_mcontext.gregs[REG_RIP] += 2;
	wefti_arch_ucontext_answer(uc, result);
}

/* The return address of a function that has not saved it; 0 if no register has it. */
static inline uintptr_t wefti_arch_ucontext_link(const ucontext_t *uc)
{
	(void)uc;
	return 0;
}
#endif
#endif
