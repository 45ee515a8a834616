/* SPDX-License-Identifier: MIT */
/*
 * arch/interrupted.h - a context that a signal has interrupted
 *
 * The CPU's registers.h names the registers, and knows the instructions.
 */
#ifndef WEFT_ARCH_INTERRUPTED_H
#define WEFT_ARCH_INTERRUPTED_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "registers.h"

/* Where a signal interrupted its thread. */
static inline uintptr_t wefti_arch_ucontext_pc(const ucontext_t *uc)
{
	return (uintptr_t)WEFTI_ARCH_PC(uc);
}

static inline uintptr_t wefti_arch_ucontext_sp(const ucontext_t *uc)
{
	return (uintptr_t)WEFTI_ARCH_SP(uc);
}

static inline void wefti_arch_move_sp(ucontext_t *uc, uintptr_t by)
{
	WEFTI_ARCH_SP(uc) += (__typeof__(WEFTI_ARCH_SP(uc)))by;
}

/* The return address of a function that has not saved it; 0 if no register has it. */
static inline uintptr_t wefti_arch_ucontext_link(const ucontext_t *uc)
{
	(void)uc;
	return (uintptr_t)WEFTI_ARCH_LINK(uc);
}

static inline void wefti_arch_ucontext_answer(ucontext_t *uc, long result)
{
	WEFTI_ARCH_RESULT(uc) = (__typeof__(WEFTI_ARCH_RESULT(uc)))result;
}

/*
 * The number of the system call whose instruction comes next; also of one that a signal
 * has interrupted and that will be restarted. -1: there is none.
 */
static inline long wefti_arch_ucontext_call(const ucontext_t *uc)
{
	return wefti_arch_is_call(wefti_arch_ucontext_pc(uc)) ?
	       (long)WEFTI_ARCH_NUMBER(uc) : -1;
}

/* Is the thread behind a system call that a signal has ended with EINTR? */
static inline int wefti_arch_ucontext_was_ended(const ucontext_t *uc)
{
	return wefti_arch_is_call(wefti_arch_ucontext_pc(uc) - WEFTI_ARCH_CALL_BYTES) &&
	       (long)WEFTI_ARCH_RESULT(uc) == -EINTR;
}

/* Skips the system call, as if it had returned this. */
static inline void wefti_arch_ucontext_skip_call(ucontext_t *uc, long result)
{
	WEFTI_ARCH_PC(uc) += WEFTI_ARCH_CALL_BYTES;
	wefti_arch_ucontext_answer(uc, result);
}

/* Is this the code to which a signal handler returns? Unwinders recognize it, too. */
static inline int wefti_arch_is_sigreturn(const unsigned char *code)
{
	static const unsigned char known[] = { WEFTI_ARCH_SIGRETURN };

	_Static_assert(sizeof(known) == WEFTI_ARCH_SIGRETURN_BYTES, "its length");
	return memcmp(code, known, sizeof(known)) == 0;
}

#endif
