/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/interrupt.c - calls that block in the kernel end before their time
 *
 * The kernel goes on with most calls after the runtime's signal, as that is handled
 * with SA_RESTART: the thread stands at the instruction again. Where a handler of the
 * program's has run that is to end the call, or the thread is cancelled, it goes on
 * behind it, with EINTR. One that is about to make the call stands there too, and the
 * call has not begun then: what differs from libc's threads is that it does not look
 * first whether it has to wait.
 *
 * Which calls: those of regions that say so; and those that libc makes for itself, of
 * what may have somebody at the other end: stdio's reads and writes of pipes, sockets
 * and terminals, and fopen() of a FIFO. In these, and in system(), a cancellation is acted
 * on in place, as with libc's threads: libc's cleanups give back the lock of a FILE, or
 * kill the child. Files of a disk are left alone, as libc reads its own with locks that
 * nobody would give back, and so is syscall() by a cancellation, as it is no such
 * point.
 *
 * A handler that comes before the call ends none, as ever. A cancellation must not be
 * lost so: who is cancelled and not at such a call is interrupted again, at the
 * monitor's next look, until it is, or acts on it elsewhere.
 */
#include "pthread/signal/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/object/text.h"
#include "pthread/core/real.h"
#include "pthread/signal/cancel.h"
#include "sched/preempt.h"
#include "syscall.h"

#define SYSCALL_BYTES	64	/* of the function, or more */

static int is_in_syscall(uintptr_t pc)
{
	return pc - (uintptr_t)REAL(syscall) < SYSCALL_BYTES;
}

static int has_other_end(const struct stat *st, int fd)
{
	return S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode) ||
	       (S_ISCHR(st->st_mode) && isatty(fd));
}

/* Is the call one that others may keep waiting? */
static int may_wait(const ucontext_t *uc, long number)
{
	struct stat st;
	long arg[6];

	wefti_arch_ucontext_args(uc, arg);
	switch (number) {
	case SYS_read: case SYS_readv: case SYS_write: case SYS_writev:
		return fstat((int)arg[0], &st) == 0 &&
		       has_other_end(&st, (int)arg[0]);
	case SYS_openat:
		/* The kernel's path, which ours need not be any more. */
		return wefti_arch_syscall(SYS_newfstatat, arg[0], arg[1],
					  (long)&st, 0, 0, 0) == 0 &&
		       S_ISFIFO(st.st_mode);
	}
	return 0;
}

/* A call that libc makes by itself. */
static unsigned libcs_ends_by(const ucontext_t *uc, long number)
{
	uintptr_t pc = wefti_arch_ucontext_pc(uc);

	if (!wefti_os_text_is_libcs(pc) || !may_wait(uc, number))
		return 0;
	return WEFTI_ENDS_BY_HANDLER |
	       (is_in_syscall(pc) ? 0 : WEFTI_ENDS_AT_ONCE);
}

/*
 * By what does the call end that the thread is at? Not a return from a signal that it
 * was sent before, which is another's, and has nowhere to go on but where it returns to.
 */
static unsigned ends_by(const ucontext_t *uc)
{
	long number = wefti_arch_ucontext_call(uc);

	if (number < 0 || number == SYS_rt_sigreturn)
		return 0;
	if (wefti_self()->cold->block_depth == 0)
		return libcs_ends_by(uc, number);
	if ((wefti_pt.ends & WEFTI_ENDS_AT_ONCE) && number != SYS_wait4)
		return 0;
	if ((wefti_pt.ends & WEFTI_ENDS_A_FUTEX) && number != SYS_futex)
		return 0;
	return wefti_pt.ends;
}

void wefti_interrupt_by_handler(ucontext_t *uc)
{
	if (ends_by(uc) & WEFTI_ENDS_BY_HANDLER)
		wefti_arch_ucontext_skip_call(uc, -EINTR);
}

/*
 * The terminal has the kernel begin the call anew when its signal is handled, whatever
 * call it is: without SA_RESTART it ends, as it would with the program's handler.
 */
void wefti_interrupt_by_terminal(ucontext_t *uc)
{
	if (wefti_arch_ucontext_call(uc) >= 0)
		wefti_arch_ucontext_skip_call(uc, -EINTR);
}

void wefti_interrupt_by_cancel(ucontext_t *uc)
{
	unsigned by;

	if (likely(!wefti_pt_is_urgent(WEFTI_URGENT_CANCEL)) ||
	    load_seq_cst(&wefti_pt.cancel_disabled))
		return;
	by = ends_by(uc);
	if (by & WEFTI_ENDS_AT_ONCE)
		wefti_cancel_act();
	if (by & WEFTI_ENDS_BY_CANCEL) {
		wefti_arch_ucontext_skip_call(uc, -EINTR);
		return;
	}
	if (!wefti_pt.cancel_held)
		wefti_cancel_show();
	wefti_preempt_insist(wefti_self());
}
