/* SPDX-License-Identifier: MIT */
/*
 * arch/x86_64/signal_frame.h - the frame that the kernel puts on a stack for a handler
 *
 * From low to high: the return address, ucontext, siginfo; then, on a cache line of its
 * own, the state of the floating-point unit, to which the ucontext points. sigreturn
 * reads the first three at the stack pointer, so a copy works as well.
 */
#ifndef WEFT_ARCH_SIGNAL_FRAME_H
#define WEFT_ARCH_SIGNAL_FRAME_H

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "interrupted.h"

#define WEFTI_ARCH_RED_ZONE	128	/* in use below the stack pointer */
#define WEFTI_ARCH_FRAME_ALIGN	64	/* a copy has the frame's address, modulo this */
#define WEFTI_ARCH_ALTSTACK_LEAST	2048	/* bytes: the kernel refuses less */

/* The kernel's struct _fpx_sw_bytes, in the part that FXSAVE leaves free. */
#define WEFTI_FXSAVE_BYTES	512
#define WEFTI_FXSAVE_MAGIC	464	/* 4 bytes, then the size of all */
#define WEFTI_XSAVE_MAGIC	0x46505853u

static inline uintptr_t wefti_arch_frame_low(const siginfo_t *info,
					     const ucontext_t *uc)
{
	(void)info;
	return (uintptr_t)uc - sizeof(uintptr_t);
}

static inline uintptr_t wefti_arch_frame_end(const siginfo_t *info,
					     const ucontext_t *uc)
{
	const char *fp = (const char *)uc->uc_mcontext.fpregs;
	uint32_t magic[2];

	if (!fp)
		return (uintptr_t)(info + 1);
	memcpy(magic, fp + WEFTI_FXSAVE_MAGIC, sizeof(magic));
	return (uintptr_t)fp + (magic[0] == WEFTI_XSAVE_MAGIC ?
				magic[1] : WEFTI_FXSAVE_BYTES);
}

/*
 * The thread is at the end of a handler: returns where it goes on, or NULL if it is not
 * there. The return address is popped already, so the stack pointer is at the context.
 */
static inline ucontext_t *wefti_arch_frame_returns(const ucontext_t *uc)
{
	const unsigned char *next =
		(const unsigned char *)uc->uc_mcontext.gregs[REG_RIP];

	if ((next[0] == 0x0f && next[1] == 0x05 &&
	     uc->uc_mcontext.gregs[REG_RAX] == SYS_rt_sigreturn) ||
	    (next[0] == 0x48 && wefti_arch_is_sigreturn(next)))
		return (ucontext_t *)uc->uc_mcontext.gregs[REG_RSP];
	return NULL;
}

/* uc is in a copy of the frame, which is `by` higher. */
static inline void wefti_arch_frame_moved(ucontext_t *uc, uintptr_t by)
{
	uintptr_t fp = (uintptr_t)uc->uc_mcontext.fpregs;

	if (fp)
		uc->uc_mcontext.fpregs = (fpregset_t)(fp + by);
}

/*
 * Calls fn as the kernel would have, with the frame at `low`. `link`: the return
 * address of the handler that was called; here it is in the frame.
 */
_Noreturn static inline void
wefti_arch_frame_call(uintptr_t low, uintptr_t end, uintptr_t link,
		      void (*fn)(int signal, siginfo_t *info, void *context),
		      int signal, siginfo_t *info, ucontext_t *uc)
{
	(void)end;
	(void)link;
	__asm__ volatile("mov %0, %%rsp\n\tjmp *%1"
			 :: "r"(low), "r"(fn), "D"(signal), "S"(info), "d"(uc)
			 : "memory");
	__builtin_unreachable();
}

#endif
