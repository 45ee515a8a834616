/* SPDX-License-Identifier: MIT */
/*
 * arch/riscv64/signal_frame.h - the frame that the kernel puts on a stack for a handler
 *
 * From low to high: siginfo; ucontext; the records. The head of the first record is in
 * the last 8 bytes of ucontext. One record has the vector registers, and a pointer to its
 * own second half. sigreturn reads the frame at the stack pointer, so a copy works too.
 */
#ifndef WEFT_ARCH_SIGNAL_FRAME_H
#define WEFT_ARCH_SIGNAL_FRAME_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "interrupted.h"

#define WEFTI_ARCH_RED_ZONE	0
#define WEFTI_ARCH_FRAME_ALIGN	16	/* a copy has the frame's address, modulo this */
#define WEFTI_ARCH_ALTSTACK_LEAST	2048	/* bytes: the kernel refuses less */

/* The kernel's RISCV_V_MAGIC. */
#define WEFTI_VECTOR_MAGIC	0x53465457u

struct wefti_arch_record {
	uint32_t magic, bytes;		/* 0, 0: the last */
	uint64_t state[5];		/* the vectors': five control registers, */
	uintptr_t data;			/* and where the contents are */
};

/*
 * Where the alternate stack ends, if the frame is on it. qemu-user's ucontext is shorter
 * than libc's, by the room that it leaves out for larger registers. So that stack ends
 * before the ucontext does.
 */
static inline uintptr_t wefti_arch_frame_limit(const ucontext_t *uc)
{
	const uintptr_t low = (uintptr_t)uc->uc_stack.ss_sp;
	const uintptr_t size = uc->uc_stack.ss_size;

	return (uintptr_t)uc - low < size ? low + size : UINTPTR_MAX;
}

/*
 * Kernels without vector registers, and emulators, write no records. What is there then
 * is 0, or the memory of the interrupted function. So no other record is followed.
 */
static inline struct wefti_arch_record *wefti_arch_frame_vectors(const ucontext_t *uc)
{
	struct wefti_arch_record *r = (void *)((uintptr_t)(uc + 1) -
		offsetof(struct wefti_arch_record, state));

	return (uintptr_t)(r + 1) <= wefti_arch_frame_limit(uc) &&
	       r->magic == WEFTI_VECTOR_MAGIC && r->data == (uintptr_t)(r + 1) ?
	       r : NULL;
}

static inline uintptr_t wefti_arch_frame_low(const siginfo_t *info,
					     const ucontext_t *uc)
{
	(void)uc;
	return (uintptr_t)info;
}

/* Includes the head of the last record. */
static inline uintptr_t wefti_arch_frame_end(const siginfo_t *info,
					     const ucontext_t *uc)
{
	const struct wefti_arch_record *r = wefti_arch_frame_vectors(uc);
	const uintptr_t limit = wefti_arch_frame_limit(uc);
	uintptr_t end = (uintptr_t)(uc + 1);

	(void)info;
	if (r)
		end += r->bytes;
	end = (end + 15) & ~(uintptr_t)15;
	return end < limit ? end : limit;
}

/*
 * The thread is at the end of a handler: returns where it goes on, or NULL if it is not
 * there. Its stack pointer is at the frame.
 */
static inline ucontext_t *wefti_arch_frame_returns(const ucontext_t *uc)
{
	const uintptr_t pc = wefti_arch_ucontext_pc(uc);
	const uint32_t next = wefti_arch_instruction(pc);

	if ((next == WEFTI_ARCH_ECALL &&
	     uc->uc_mcontext.__gregs[WEFTI_ARCH_GREG_A7] == SYS_rt_sigreturn) ||
	    (next == 0x08b00893u &&
	     wefti_arch_instruction(pc + 4) == WEFTI_ARCH_ECALL))
		return (ucontext_t *)(wefti_arch_ucontext_sp(uc) + sizeof(siginfo_t));
	return NULL;
}

/* uc is in a copy of the frame, which is `by` higher. */
static inline void wefti_arch_frame_moved(ucontext_t *uc, uintptr_t by)
{
	const struct wefti_arch_record *r =
		wefti_arch_frame_vectors((const void *)((uintptr_t)uc - by));

	if (r)
		((struct wefti_arch_record *)((uintptr_t)r + by))->data += by;
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
	register long a0 __asm__("a0") = signal;
	register siginfo_t *a1 __asm__("a1") = info;
	register ucontext_t *a2 __asm__("a2") = uc;
	register uintptr_t t3 __asm__("t3") = low;
	register uintptr_t t4 __asm__("t4") = link;
	register void (*t5)(int, siginfo_t *, void *) __asm__("t5") = fn;

	(void)end;
	__asm__ volatile("mv sp, %0\n\tmv ra, %1\n\tjr %2"
			 :: "r"(t3), "r"(t4), "r"(t5), "r"(a0), "r"(a1), "r"(a2)
			 : "memory");
	__builtin_unreachable();
}

#endif
