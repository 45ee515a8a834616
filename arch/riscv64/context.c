/* SPDX-License-Identifier: MIT */
/* arch/riscv64/context.c - a thread's first frame, and a look at a parked thread */
#include "context.h"
#include "registers.h"

#include <string.h>

void wefti_arch_entry(void);

/* The frame of context.S, as data. */
struct frame {
	uint64_t pc, fp;
	uint64_t s[11];		/* s1 to s11 */
	uint64_t fs[12];	/* fs0 to fs11 */
	uint64_t fcsr;
};

#define FRAME_HAS(field, offset)	\
	_Static_assert(offsetof(struct frame, field) == (offset), \
		       "context.S and struct frame disagree: " #field)

FRAME_HAS(pc, FRAME_PC);
FRAME_HAS(fp, FRAME_FP);
FRAME_HAS(s, FRAME_S1);
FRAME_HAS(fs, FRAME_FS0);
FRAME_HAS(fcsr, FRAME_FCSR);
_Static_assert(sizeof(struct frame) == FRAME_BYTES, "frame of context.S");

void wefti_arch_context_init(struct wefti_context *ctx, void *stack_top,
			     wefti_arch_entry_fn *entry)
{
	uintptr_t top = (uintptr_t)stack_top & ~(uintptr_t)15;
	struct frame *f = (struct frame *)top - 1;

	memset(f, 0, sizeof(*f));
	__asm__ volatile("frcsr %0" : "=r" (f->fcsr));
	f->s[0] = (uintptr_t)entry;
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
	for (int i = 0; i < 11; i++)
		out->s[i] = f->s[i];
}

void wefti_arch_fill_ucontext(const struct wefti_context *ctx, ucontext_t *out)
{
	const struct frame *f = ctx->sp;
	unsigned long *reg = out->uc_mcontext.__gregs;

	memset(out, 0, sizeof(*out));
	reg[REG_PC] = f->pc;
	reg[WEFTI_ARCH_GREG_RA] = f->pc;
	reg[WEFTI_ARCH_GREG_SP] = (uintptr_t)(f + 1);
	reg[WEFTI_ARCH_GREG_S0] = f->fp;
	reg[WEFTI_ARCH_GREG_S0 + 1] = f->s[0];
	for (int i = 1; i < 11; i++)
		reg[WEFTI_ARCH_GREG_S2 - 1 + i] = f->s[i];
}
