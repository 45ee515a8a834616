/* SPDX-License-Identifier: MIT */
/*
 * pthread/sigaction.c - what the program does with signals is the kernel's, but for two
 *
 * SIGSYS is ours as long as libgomp's calls are trapped, and the program does not want
 * it (os/trap.h). SIGURG preempts: while threads are green the kernel has the runtime's
 * handler, and what the program has set is kept beside it. A SIGURG of others comes to
 * that handler, on whatever kernel thread; it is left here for the receiver, which
 * treats it as all others. Where all threads block it, it waits here and not in the
 * kernel, so that a signalfd() is not told of it.
 *
 * Writers
 *   urgent  leave_for_receiver, wefti_sigaction_begin, wefti_signal_left
 */
#include <errno.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "os/signal.h"
#include "os/trap.h"
#include "pthread/hold.h"
#include "pthread/real.h"
#include "pthread/second_names.h"
#include "pthread/signal.h"
#include "pthread/signal_queue.h"
#include "pthread/start.h"
#include "pthread/tied.h"

/* --- what comes to the runtime's handler --------------------------- */

/* As the kernel has it: one that comes while another waits is the same. */
enum { NONE, COMES, WAITS };

static _Atomic uint32_t urgent;
static siginfo_t urgent_info;		/* whose COMES it is, then the receiver's */

static int leave_for_receiver(const siginfo_t *info)
{
	uint32_t none = NONE;

	if (!wefti_pt_is_started())
		return 0;
	if (cas_seq_cst(&urgent, &none, COMES)) {
		urgent_info = *info;
		store_seq_cst(&urgent, WAITS);
		wefti_signals_kick();
	}
	return 1;
}

int wefti_signal_left(siginfo_t *info)
{
	if (load_seq_cst(&urgent) != WAITS)
		return 0;
	*info = urgent_info;
	store_seq_cst(&urgent, NONE);
	return 1;
}

void wefti_sigaction_begin(void)
{
	store_seq_cst(&urgent, NONE);
	wefti_os_signal_others(WEFTI_OS_PROGRAMS, leave_for_receiver);
}

/* --- the program's calls ------------------------------------------- */

/* The child of a vfork() has a table of its own, and our memory. */
static int are_ours(void)
{
	return wefti_pt_is_started() && wefti_pt_pid() == getpid();
}

static int is_kept(int number)
{
	return number == wefti_os_preempt_signal() && are_ours();
}

/* The program wants it for itself. */
static void leave_sigsys(int number)
{
	struct wefti_hold h;

	if (number != SIGSYS || !are_ours())
		return;
	h = wefti_hold_begin();
	(void)!wefti_os_trap_end();
	wefti_hold_end(h);
}

static int is_ignored(int number, sighandler_t handler)
{
	return handler == SIG_IGN ||
	       (handler == SIG_DFL && (number == SIGCHLD || number == SIGURG ||
				       number == SIGWINCH || number == SIGCONT));
}

/* It is set, and what waits is discarded, as the kernel does with what waits there. */
static void look_what_is_ignored(int number, sighandler_t handler)
{
	if (is_ignored(number, handler) && are_ours())
		wefti_signals_discard(number);
}

/* Is done inside the runtime, or with signals blocked, and so takes no time. */
static void change_kept(const struct sigaction *new, struct sigaction *old)
{
	static _Atomic uint32_t lock;
	struct wefti_hold h = wefti_hold_begin();

	wefti_hold_lock(&lock);
	wefti_os_signal_preempt_action(new, old);
	wefti_hold_unlock(&lock);
	wefti_hold_end(h);
}

EXPORT int sigaction(int number, const struct sigaction *new,
		     struct sigaction *old)
{
	if (new)
		leave_sigsys(number);
	else if (number == SIGSYS && old && wefti_os_trap_action(old))
		return 0;
	if (is_kept(number))
		change_kept(new, old);
	else if (REAL(sigaction)(number, new, old) != 0)
		return -1;
	if (new)
		look_what_is_ignored(number, new->sa_handler);
	return 0;
}
SECOND_NAME(sigaction, __sigaction);

/* As signal() and its kin do it. */
static sighandler_t set_kept(int number, sighandler_t handler, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	struct sigaction old;

	if (handler == SIG_ERR)
		return wefti_answer(EINVAL), SIG_ERR;
	if (!(flags & SA_NODEFER))
		sigaddset(&action.sa_mask, number);
	change_kept(&action, &old);
	return old.sa_handler;
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	sighandler_t old;

	leave_sigsys(number);
	old = is_kept(number) ? set_kept(number, handler, SA_RESTART) :
				REAL(signal)(number, handler);
	if (old != SIG_ERR)
		look_what_is_ignored(number, handler);
	return old;
}

EXPORT sighandler_t bsd_signal(int number, sighandler_t handler)
{
	return signal(number, handler);
}

EXPORT sighandler_t ssignal(int number, sighandler_t handler)
{
	return signal(number, handler);
}

EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
{
	sighandler_t old;

	leave_sigsys(number);
	old = is_kept(number) ?
	      set_kept(number, handler, (int)SA_RESETHAND | SA_NODEFER) :
	      REAL(__sysv_signal)(number, handler);
	if (old != SIG_ERR)
		look_what_is_ignored(number, handler);
	return old;
}

EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
	return __sysv_signal(number, handler);
}

EXPORT int sigignore(int number)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	return sigaction(number, &ignore, NULL);
}

EXPORT int siginterrupt(int number, int interrupts)
{
	struct sigaction action;

	if (!is_kept(number))
		return REAL(siginterrupt)(number, interrupts);
	change_kept(NULL, &action);
	if (interrupts)
		action.sa_flags &= ~SA_RESTART;
	else
		action.sa_flags |= SA_RESTART;
	change_kept(&action, NULL);
	return 0;
}
