/* SPDX-License-Identifier: MIT */
/*
 * arch/aarch64/context.h - the saved half of a weft thread
 *
 * Included by C and by context.S, so only macros outside the C part.
 */
#ifndef WEFT_ARCH_CONTEXT_H
#define WEFT_ARCH_CONTEXT_H

#define CONTEXT_SP	0	/* offsetof(struct wefti_context, sp) */

/* The frame that a switch leaves at the saved sp; context.S draws it. */
#define FRAME_FP	0	/* x29, then x30: a frame record */
#define FRAME_PC	8
#define FRAME_X19	16	/* to x28, 80 bytes */
#define FRAME_D8	96	/* to d15, 64 bytes */
#define FRAME_FPCR	160	/* 8 bytes, then 8 unused */
#define FRAME_BYTES	176

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
	uintptr_t pc, sp, fp;	/* fp is x29; the names are the same on all */
	uintptr_t x[10];	/* x19 to x28 */
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
 * switches back. Preserves what the AAPCS64 says that a call preserves. FPSR and the
 * thread pointer stay as they are: if the latter differs, the caller sets it.
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
	return (uintptr_t)uc->uc_mcontext.pc;
}

static inline uintptr_t wefti_arch_ucontext_sp(const ucontext_t *uc)
{
	return (uintptr_t)uc->uc_mcontext.sp;
}

/* The arguments of the system call that an instruction made; and its answer. */
static inline void wefti_arch_ucontext_args(const ucontext_t *uc, long *six)
{
	for (int i = 0; i < 6; i++)
		six[i] = (long)uc->uc_mcontext.regs[i];
}

static inline void wefti_arch_ucontext_answer(ucontext_t *uc, long result)
{
	uc->uc_mcontext.regs[0] = (unsigned long long)result;
}

/*
 * The number of the system call whose instruction comes next; also of one that a signal
 * has interrupted and that will be restarted. -1: there is none.
 */
static inline long wefti_arch_ucontext_call(const ucontext_t *uc)
{
	const uint32_t *next = (const void *)wefti_arch_ucontext_pc(uc);

	return *next == 0xd4000001u ? (long)uc->uc_mcontext.regs[8] : -1;
}

/* Is the thread right behind a system call? Says no at the beginning of a page. */
static inline int wefti_arch_ucontext_is_behind_call(const ucontext_t *uc)
{
	const uintptr_t pc = wefti_arch_ucontext_pc(uc);

	return pc % 4096 != 0 && ((const uint32_t *)pc)[-1] == 0xd4000001u;
}

/* Is the thread behind a system call that a signal has ended with EINTR? */
static inline int wefti_arch_ucontext_was_ended(const ucontext_t *uc)
{
	const uint32_t *next = (const void *)wefti_arch_ucontext_pc(uc);

	return next[-1] == 0xd4000001u &&
	       (long)uc->uc_mcontext.regs[0] == -EINTR;
}

/* Skips the system call, as if it had returned this. */
static inline void wefti_arch_ucontext_skip_call(ucontext_t *uc, long result)
{
	uc->uc_mcontext.pc += 4;
	wefti_arch_ucontext_answer(uc, result);
}

/* The return address of a function that has not saved it; 0 if no register has it. */
static inline uintptr_t wefti_arch_ucontext_link(const ucontext_t *uc)
{
	return (uintptr_t)uc->uc_mcontext.regs[30];
}
#endif
#endif
