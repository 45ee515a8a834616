/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/interrupt.c - calls that block in the kernel end before their time
 *
 * The runtime's signal has SA_RESTART. So after it the kernel restarts most calls: the
 * thread is at the system call's instruction again. If a handler of the program has run
 * that has to end the call, or the thread is cancelled, the thread goes on behind that
 * instruction, with EINTR. A thread that is only about to make the call is at the same
 * instruction. Its call ends as well, and has not begun. That is the difference to
 * libc's threads: the call does not check first whether it has to wait.
 *
 * Two kinds of calls end so: the calls of regions that say so, and calls that libc makes
 * for itself on something with another end. Those are stdio's reads and writes of pipes,
 * sockets and terminals, and fopen() of a FIFO. In these, and in system(), the thread
 * acts on a cancellation in place, as libc's threads do: libc's cleanups unlock the FILE,
 * or kill the child. Calls on disk files are left alone, because libc reads its own files
 * with locks held that nothing would release. syscall() is not ended by a cancellation,
 * because it is not a cancellation point; a handler ends it in its calls that wait.
 *
 * A handler that runs before the call does not end it, as with libc. A cancellation must
 * not be lost like that. So a cancelled thread is interrupted again at the monitor's next
 * look, until it acts. That holds behind a call that was ended, too. In aio_suspend() it
 * may be the wait for a lock of libc's, which libc then asks for again.
 */
#include "pthread/signal/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interrupted.h"
#include "os/object/text.h"
#include "pthread/core/real.h"
#include "pthread/signal/cancel.h"
#include "sched/preempt.h"
#include "syscall.h"

#define SYSCALL_BYTES	64	/* the function's size is at most this */

static int is_in_syscall(uintptr_t pc)
{
	return pc - (uintptr_t)REAL(syscall) < SYSCALL_BYTES;
}

static int has_other_end(const struct stat *st, int fd)
{
	return S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode) ||
	       (S_ISCHR(st->st_mode) && isatty(fd));
}

/* May the call have to wait for another end? */
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

/* Calls of syscall() that wait for another process or thread, whatever they are given. */
static int waits_by_syscall(long number)
{
	switch (number) {
	case SYS_mq_timedreceive: case SYS_mq_timedsend:
	case SYS_recvfrom: case SYS_recvmsg: case SYS_sendto: case SYS_sendmsg:
	case SYS_accept: case SYS_accept4:
	case SYS_wait4: case SYS_waitid:
	case SYS_flock:
		return 1;
	}
	return 0;
}

/* What ends a call that libc makes for itself, or that the program makes by syscall(). */
static unsigned libcs_ends_by(const ucontext_t *uc, long number)
{
	uintptr_t pc = wefti_arch_ucontext_pc(uc);

	if (is_in_syscall(pc) && waits_by_syscall(number))
		return WEFTI_ENDS_BY_HANDLER;
	if (!wefti_os_text_is_libcs(pc) || !may_wait(uc, number))
		return 0;
	return WEFTI_ENDS_BY_HANDLER |
	       (is_in_syscall(pc) ? 0 : WEFTI_ENDS_AT_ONCE);
}

/*
 * What ends the call that the thread is at? Nothing ends rt_sigreturn(2): it is the
 * return from an earlier signal, and can go on only where it returns to.
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
 * After a terminal's signal the kernel restarts the call, whatever call it is. If the
 * program's handler has no SA_RESTART, the call has to end, as it would without weft.
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
	if (by & WEFTI_ENDS_BY_CANCEL)
		wefti_arch_ucontext_skip_call(uc, -EINTR);
	else if (!wefti_pt.cancel_held)
		wefti_cancel_show();
	wefti_preempt_insist(wefti_self());
}
