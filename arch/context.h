/* SPDX-License-Identifier: MIT */
/*
 * arch/context.h - the saved half of a weft thread
 *
 * Its parts are the CPU's: frame.h. Included by C and by context.S, so only
 * macros outside the C part.
 */
#ifndef WEFT_ARCH_CONTEXT_H
#define WEFT_ARCH_CONTEXT_H

#include "frame.h"

#define CONTEXT_SP	0	/* offsetof(struct wefti_context, sp) */

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

struct wefti_context {
	void *sp;		/* everything else is saved on its own stack */
};

_Static_assert(offsetof(struct wefti_context, sp) == CONTEXT_SP,
	       "context.S and struct wefti_context disagree");

/*
 * The result of the first function on a stack, if it returns: the context to continue, and
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
 * switches back. Preserves what the psABI says that a call preserves. Which
 * floating-point words are the thread's is in frame.h. The thread pointer stays as it is:
 * if it differs, the caller sets it.
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
#endif
#endif
