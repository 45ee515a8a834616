/* SPDX-License-Identifier: MIT */
/* arch/x86_64/context.c - a thread's first frame, and a look at a parked thread */
#include "context.h"

#include <string.h>

void wefti_arch_entry(void);

/* The frame of context.S, as data. */
struct frame {
	uint32_t mxcsr;
	uint16_t x87cw, unused;
	uint64_t r15, r14, r13, r12, rbx, rbp;
	uint64_t pc;
};

#define FRAME_HAS(field, offset)	\
	_Static_assert(offsetof(struct frame, field) == (offset), \
		       "context.S and struct frame disagree: " #field)

FRAME_HAS(mxcsr, FRAME_MXCSR);
FRAME_HAS(x87cw, FRAME_X87CW);
FRAME_HAS(r15, FRAME_R15);
FRAME_HAS(r14, FRAME_R14);
FRAME_HAS(r13, FRAME_R13);
FRAME_HAS(r12, FRAME_R12);
FRAME_HAS(rbx, FRAME_RBX);
FRAME_HAS(rbp, FRAME_RBP);
FRAME_HAS(pc, FRAME_PC);
_Static_assert(sizeof(struct frame) == FRAME_BYTES, "frame of context.S");

void wefti_arch_context_init(struct wefti_context *ctx, void *stack_top,
			     wefti_arch_entry_fn *entry)
{
	uintptr_t top = (uintptr_t)stack_top & ~(uintptr_t)15;
	struct frame *f = (struct frame *)top - 1;

	/*
	 * Each word is written in the size in which the switch reads it. A wider store
	 * would also do, but a compound literal may be split in any way.
	 */
	memset(f, 0, sizeof(*f));
	__asm__("stmxcsr %0" : "=m" (f->mxcsr));
	__asm__("fnstcw %0" : "=m" (f->x87cw));
	f->rbx = (uintptr_t)entry;
	f->pc = (uintptr_t)wefti_arch_entry;
	ctx->sp = f;
}

void wefti_arch_context_regs(const struct wefti_context *ctx,
			     struct wefti_arch_regs *out)
{
	const struct frame *f = ctx->sp;

	*out = (struct wefti_arch_regs){
		.pc = f->pc,
		.sp = (uintptr_t)(f + 1),
		.fp = f->rbp,
		.rbx = f->rbx,
		.r12 = f->r12,
		.r13 = f->r13,
		.r14 = f->r14,
		.r15 = f->r15,
	};
}

void wefti_arch_fill_ucontext(const struct wefti_context *ctx, ucontext_t *out)
{
	const struct frame *f = ctx->sp;
	greg_t *r = out->uc_mcontext.gregs;

	memset(out, 0, sizeof(*out));
	r[REG_RIP] = (greg_t)f->pc;
	r[REG_RSP] = (greg_t)(uintptr_t)(f + 1);
	r[REG_RBP] = (greg_t)f->rbp;
	r[REG_RBX] = (greg_t)f->rbx;
	r[REG_R12] = (greg_t)f->r12;
	r[REG_R13] = (greg_t)f->r13;
	r[REG_R14] = (greg_t)f->r14;
	r[REG_R15] = (greg_t)f->r15;
}
