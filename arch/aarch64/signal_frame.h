/* SPDX-License-Identifier: MIT */
/*
 * arch/aarch64/signal_frame.h - the frame that the kernel puts on a stack for a handler
 *
 * From low to high: siginfo; ucontext; the register records for which ucontext has no
 * room, to which its last record points; a frame record of the interrupted frame.
 * sigreturn reads the frame at the stack pointer, so a copy works as well.
 */
#ifndef WEFT_ARCH_SIGNAL_FRAME_H
#define WEFT_ARCH_SIGNAL_FRAME_H

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "interrupted.h"

#define WEFTI_ARCH_RED_ZONE	0
#define WEFTI_ARCH_FRAME_ALIGN	16	/* a copy has the frame's address, modulo this */
#define WEFTI_ARCH_ALTSTACK_LEAST	5120	/* bytes: the kernel refuses less */

/* The kernel's struct extra_context. */
#define WEFTI_EXTRA_MAGIC	0x45585401u

struct wefti_arch_record {
	uint32_t magic, bytes;		/* 0, 0: the last */
	uint64_t extra;			/* of that kind: where the rest is, */
	uint32_t extra_bytes;		/* and the size of that */
};

static inline struct wefti_arch_record *wefti_arch_frame_extra(const ucontext_t *uc)
{
	uintptr_t at = (uintptr_t)uc->uc_mcontext.__reserved;
	const uintptr_t end = at + sizeof(uc->uc_mcontext.__reserved);

	while (end - at >= sizeof(struct wefti_arch_record)) {
		struct wefti_arch_record *r = (void *)at;

		if (r->magic == WEFTI_EXTRA_MAGIC)
			return r;
		if (!r->magic || !r->bytes || r->bytes > end - at)
			break;
		at += r->bytes;
	}
	return NULL;
}

static inline uintptr_t wefti_arch_frame_low(const siginfo_t *info,
					     const ucontext_t *uc)
{
	(void)uc;
	return (uintptr_t)info;
}

/* Includes the frame record. */
static inline uintptr_t wefti_arch_frame_end(const siginfo_t *info,
					     const ucontext_t *uc)
{
	const struct wefti_arch_record *extra = wefti_arch_frame_extra(uc);
	uintptr_t end = (uintptr_t)(uc + 1);

	(void)info;
	if (extra)
		end = (uintptr_t)extra->extra + extra->extra_bytes;
	return ((end + 15) & ~(uintptr_t)15) + 2 * sizeof(uintptr_t);
}

/*
 * The thread is at the end of a handler: returns where it goes on, or NULL if it is not
 * there. Its stack pointer is at the frame.
 */
static inline ucontext_t *wefti_arch_frame_returns(const ucontext_t *uc)
{
	const uint32_t *next = (const uint32_t *)uc->uc_mcontext.pc;

	if ((next[0] == 0xd4000001u &&
	     uc->uc_mcontext.regs[8] == SYS_rt_sigreturn) ||
	    (next[0] == 0xd2801168u && next[1] == 0xd4000001u))
		return (ucontext_t *)(uc->uc_mcontext.sp + sizeof(siginfo_t));
	return NULL;
}

/* uc is in a copy of the frame, which is `by` higher. */
static inline void wefti_arch_frame_moved(ucontext_t *uc, uintptr_t by)
{
	struct wefti_arch_record *extra = wefti_arch_frame_extra(uc);

	if (extra)
		extra->extra += by;
}

/*
 * Calls fn as the kernel would have, with the frame from `low` to `end`. `link`: the
 * return address of the handler that was called.
 */
_Noreturn static inline void
wefti_arch_frame_call(uintptr_t low, uintptr_t end, uintptr_t link,
		      void (*fn)(int signal, siginfo_t *info, void *context),
		      int signal, siginfo_t *info, ucontext_t *uc)
{
	uintptr_t *record = (uintptr_t *)end - 2;
	register long x0 __asm__("x0") = signal;
	register siginfo_t *x1 __asm__("x1") = info;
	register ucontext_t *x2 __asm__("x2") = uc;
	register uintptr_t x9 __asm__("x9") = low;
	register uintptr_t *x10 __asm__("x10") = record;
	register uintptr_t x11 __asm__("x11") = link;
	register void (*x12)(int, siginfo_t *, void *) __asm__("x12") = fn;

	record[0] = uc->uc_mcontext.regs[29];
	record[1] = uc->uc_mcontext.regs[30];
	__asm__ volatile("mov sp, %0\n\tmov x29, %1\n\tmov x30, %2\n\tbr %3"
			 :: "r"(x9), "r"(x10), "r"(x11), "r"(x12), "r"(x0),
			    "r"(x1), "r"(x2)
			 : "memory");
	__builtin_unreachable();
}

#endif
