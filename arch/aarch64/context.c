/* SPDX-License-Identifier: MIT */
/* arch/aarch64/context.c - a thread's first frame, and a look at a parked thread */
#include "context.h"

#include <string.h>

void wefti_arch_entry(void);

/* The frame of context.S, as data. */
struct frame {
	uint64_t fp, pc;
	uint64_t x[10];		/* x19 to x28 */
	uint64_t d[8];		/* d8 to d15 */
	uint64_t fpcr, unused;
};

#define FRAME_HAS(field, offset)	\
	_Static_assert(offsetof(struct frame, field) == (offset), \
		       "context.S and struct frame disagree: " #field)

FRAME_HAS(fp, FRAME_FP);
FRAME_HAS(pc, FRAME_PC);
FRAME_HAS(x, FRAME_X19);
FRAME_HAS(d, FRAME_D8);
FRAME_HAS(fpcr, FRAME_FPCR);
_Static_assert(sizeof(struct frame) == FRAME_BYTES, "frame of context.S");

void wefti_arch_context_init(struct wefti_context *ctx, void *stack_top,
			     wefti_arch_entry_fn *entry)
{
	uintptr_t top = (uintptr_t)stack_top & ~(uintptr_t)15;
	struct frame *f = (struct frame *)top - 1;

	memset(f, 0, sizeof(*f));
	__asm__("mrs %0, fpcr" : "=r" (f->fpcr));
	f->x[0] = (uintptr_t)entry;
	f->pc = (uintptr_t)wefti_arch_entry;
	ctx->sp = f;
}

void wefti_arch_context_regs(const struct wefti_context *ctx,
			     struct wefti_arch_regs *out)
{
	const struct frame *f = ctx->sp;

	out->pc = f->pc;
	out->sp = (uintptr_t)(f + 1);
	out->fp = f->fp;
	for (int i = 0; i < 10; i++)
		out->x[i] = f->x[i];
}

void wefti_arch_fill_ucontext(const struct wefti_context *ctx, ucontext_t *out)
{
	const struct frame *f = ctx->sp;

	memset(out, 0, sizeof(*out));
	out->uc_mcontext.pc = f->pc;
	out->uc_mcontext.sp = (uintptr_t)(f + 1);
	out->uc_mcontext.regs[29] = f->fp;
	out->uc_mcontext.regs[30] = f->pc;
	for (int i = 0; i < 10; i++)
		out->uc_mcontext.regs[19 + i] = f->x[i];
}
