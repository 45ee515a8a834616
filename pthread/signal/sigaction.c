/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/sigaction.c - what the program does with signals
 *
 * While threads are green, the kernel has the runtime's entry wherever the program has a
 * handler. What the program has set is kept beside it (os/signal/caught.h). All else is
 * the kernel's, with two exceptions. SIGSYS is ours while libgomp's calls are trapped and
 * the program does not use it (os/signal/trap.h). SIGURG preempts: the kernel has the
 * runtime's handler, whatever the program sets. A SIGURG from another sender comes to
 * that handler, on any kernel thread. It is left for the receiver, which treats it like
 * all other signals. If all threads block it, it waits here and not in the kernel, so a
 * signalfd() does not report it.
 *
 * Writers
 *   interrupting  siginterrupt
 *   lock  wefti_sigaction_forget
 */
#include <errno.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "observe/overflow.h"
#include "os/object/go.h"
#include "os/signal/caught.h"
#include "os/signal/trap.h"
#include "pthread/core/answer.h"
#include "pthread/core/go.h"
#include "pthread/core/hold.h"
#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/core/started.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/signal_queue.h"

#define SIGNALS	64

static _Atomic uint32_t lock;
static _Atomic uint64_t interrupting;	/* what siginterrupt() set, for signal() */

/* --- SIGURG at the runtime's handler ------------------------------- */

static int leave_for_receiver(const siginfo_t *info)
{
	if (!wefti_pt_is_started())
		return 0;
	wefti_caught_leave(info);
	return 1;
}

void wefti_sigaction_begin(void)
{
	wefti_signals_catch();
	wefti_os_signal_others(WEFTI_OS_PROGRAMS, leave_for_receiver);
}

/* In the child of a fork. */
void wefti_sigaction_forget(void)
{
	store_seq_cst(&lock, 0);
	wefti_os_caught_end();
}

/* --- the program's calls ------------------------------------------- */

/* The child of a vfork() has its own table of actions, but our memory. */
static int are_ours(void)
{
	return wefti_pt_is_started() && wefti_pt_pid() == getpid();
}

static int is_kept(int number)
{
	return number == wefti_os_preempt_signal() && are_ours();
}

/* The program wants SIGSYS for itself. */
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

/* After it is set: discards pending signals if it is ignored, as the kernel does. */
static void discard_if_ignored(int number, sighandler_t handler)
{
	if (is_ignored(number, handler) && are_ours())
		wefti_signals_discard(number);
}

/* Returns 0, or -1 with errno. */
static int change(int number, const struct sigaction *new, struct sigaction *old)
{
	if (is_kept(number)) {
		wefti_os_signal_preempt_action(new, old);
		return 0;
	}
	if (!wefti_os_signal_action(number, old))
		return REAL(sigaction)(number, new, NULL);
	if (!wefti_os_caught_hides(number, old))
		wefti_overflow_hides(number, old);
	if (!new)
		return 0;
	if (wefti_overflow_takes(number, new))
		return 0;
	if (!wefti_signal_is_caught(number, new->sa_handler))
		return REAL(sigaction)(number, new, NULL);
	wefti_os_catch(number, new);
	return 0;
}

/* Done inside the runtime, or with signals blocked, so the lock is held only briefly. */
static int change_ours(int number, const struct sigaction *new,
		       struct sigaction *old)
{
	struct wefti_hold h = wefti_hold_enter(&lock);
	struct sigaction before;
	int status;

	status = change(number, new, &before);
	wefti_hold_leave(&lock, h);
	if (status == 0 && old)
		*old = before;
	return status;
}

/*
 * Go's runtime handles faults, and preempts by SIGURG, on its own kernel threads and
 * stacks. The kernel calls Go's handlers. They call the earlier handlers, which are ours,
 * for what is not Go's. SIGURG remains ours, and is shared.
 */
static int is_gos(int number, const void *caller)
{
	if (!wefti_go_is_here() || !wefti_os_go_has(caller))
		return 0;
	if (is_kept(number))
		wefti_os_signal_preempt_share();
	return !is_kept(number);
}

EXPORT int sigaction(int number, const struct sigaction *new,
		     struct sigaction *old)
{
	int status;

	if (is_gos(number, __builtin_return_address(0)))
		return REAL(sigaction)(number, new, old);
	if (new)
		leave_sigsys(number);
	else if (number == SIGSYS && old && wefti_os_trap_action(old))
		return 0;
	status = are_ours() ? change_ours(number, new, old) :
			      REAL(sigaction)(number, new, old);
	if (status == 0 && new)
		discard_if_ignored(number, new->sa_handler);
	return status;
}
SECOND_NAME(sigaction, __sigaction);

/* Does not call the program's own sigaction(), if the program defines one. */
void wefti_signal_action(int signal, struct sigaction *now)
{
	*now = (struct sigaction){ .sa_handler = SIG_DFL };
	(void)!change_ours(signal, NULL, now);
}

void wefti_signal_reset(int signal, const struct sigaction *from)
{
	struct sigaction fallback = *from;

	fallback.sa_handler = SIG_DFL;
	(void)!change_ours(signal, &fallback, NULL);
}

/* What signal() and its variants do. */
static sighandler_t set(int number, sighandler_t handler, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	struct sigaction old;

	if (handler == SIG_ERR)
		return wefti_answer(EINVAL), SIG_ERR;
	if (!(flags & SA_NODEFER))
		sigaddset(&action.sa_mask, number);
	if (change_ours(number, &action, &old) != 0)
		return SIG_ERR;
	discard_if_ignored(number, handler);
	return old.sa_handler;
}

static int is_interrupting(int number)
{
	return number > 0 && number <= SIGNALS &&
	       (load_seq_cst(&interrupting) & WEFTI_SIGNAL_BIT(number));
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	leave_sigsys(number);
	if (!are_ours())
		return REAL(signal)(number, handler);
	return set(number, handler, is_interrupting(number) ? 0 : SA_RESTART);
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
	leave_sigsys(number);
	if (!are_ours())
		return REAL(__sysv_signal)(number, handler);
	return set(number, handler, (int)SA_RESETHAND | SA_NODEFER);
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

/* libc's own siginterrupt() would change the runtime's action. */
static int interrupt_ours(int number, int interrupts)
{
	struct sigaction action;

	if (change_ours(number, NULL, &action) != 0)
		return -1;
	if (interrupts)
		action.sa_flags &= ~SA_RESTART;
	else
		action.sa_flags |= SA_RESTART;
	return change_ours(number, &action, NULL);
}

EXPORT int siginterrupt(int number, int interrupts)
{
	int status = are_ours() ? interrupt_ours(number, interrupts) :
				  REAL(siginterrupt)(number, interrupts);

	if (status == 0 && interrupts)
		fetch_or_seq_cst(&interrupting, WEFTI_SIGNAL_BIT(number));
	else if (status == 0)
		fetch_and_seq_cst(&interrupting, ~WEFTI_SIGNAL_BIT(number));
	return status;
}
