/* SPDX-License-Identifier: MIT */
/* pthread/signal/signal_act.c - what a signal does: a handler's call or the default */
#include <errno.h>
#include <ucontext.h>

#include "os/call/tid.h"
#include "os/signal/signal.h"
#include "pthread/core/hold.h"
#include "pthread/signal/altstack.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/signal_queue.h"

/*
 * This kernel thread lets the signal in. So it does not go on before the kernel has acted
 * on the signal. It may go on then: some signals do not stop an orphaned process group.
 */
void wefti_signal_by_kernel(int signal)
{
	struct wefti_hold h = wefti_hold_begin();
	const uint64_t mask = wefti_os_signal_mask();

	(void)wefti_os_kthread_signal(wefti_os_gettid(), signal);
	wefti_os_signal_unblock(signal);
	wefti_os_signals_restore(mask);
	wefti_hold_end(h);
}

static void by_default(int signal)
{
	switch (signal) {
	case SIGCHLD: case SIGURG: case SIGWINCH: case SIGCONT:
		return;
	case SIGTSTP: case SIGTTIN: case SIGTTOU:
		wefti_signal_by_kernel(signal);
		return;
	default:
		wefti_os_raise_default(signal);
	}
}

struct handling {
	const struct sigaction *action;
	siginfo_t *info;
	ucontext_t *context;	/* where the thread goes on; NULL: it has called */
	uint64_t mask;		/* in the handler's context, before and after it */
};

static void handle_at(struct handling *h, ucontext_t *context)
{
	context->uc_stack = wefti_altstack_tell();
	context->uc_stack.ss_flags &= SS_DISABLE;	/* as the kernel does */
	wefti_os_ucontext_set_mask(context, h->mask);
	h->action->sa_sigaction(h->info->si_signo, h->info, context);
	h->mask = wefti_os_ucontext_mask(context) & WEFTI_SIGNALS_MASKABLE;
}

static void handle(void *arg)
{
	struct handling *h = arg;
	ucontext_t here;

	if (!(h->action->sa_flags & SA_SIGINFO)) {
		h->action->sa_handler(h->info->si_signo);
	} else if (h->context) {
		handle_at(h, h->context);
	} else {
		getcontext(&here);
		handle_at(h, &here);
	}
}

/*
 * The handler runs as if the thread had called it. It may be preempted. Else a handler
 * that waits for another thread, or for another handler on top of it, might wait for
 * ever.
 */
static void run(struct handling *h)
{
	const int held = wefti_os_signal_preempt_hold();
	const uint8_t ends = wefti_pt.ends;

	wefti_pt.ends = 0;		/* belongs to the interrupted call */
	wefti_pt.interrupted = NULL;
	wefti_os_signal_preempt_let(0);
	if (h->action->sa_flags & SA_ONSTACK)
		wefti_altstack_call(handle, h);
	else
		handle(h);
	(void)wefti_os_signal_preempt_hold();
	wefti_os_signal_preempt_let(held);
	wefti_pt.interrupted = h->context;
	wefti_pt.ends = ends;
}

/* The handler runs on a stack of the thread, between two instructions of the thread. */
static void call(const struct sigaction *action, siginfo_t *info)
{
	const uint64_t before = load_relaxed(&wefti_pt.mask);
	int signal = info->si_signo, saved = errno;
	uint64_t during = before | wefti_signal_mask(&action->sa_mask);
	struct handling h = { action, info, wefti_pt.interrupted, before };

	if (!(action->sa_flags & SA_NODEFER))
		during |= WEFTI_SIGNAL_BIT(signal);
	if (action->sa_flags & (int)SA_RESETHAND)
		wefti_signal_reset(signal, action);
	/*
	 * An interrupted sigwait() ends when this returns, and no longer waits from here
	 * on.
	 */
	store_seq_cst(&wefti_pt.waited, (uint64_t)0);
	wefti_pt.handled++;
	wefti_pt.handled_no_restart += !(action->sa_flags & SA_RESTART);
	store_seq_cst(&wefti_pt.mask, during);
	wefti_tty_follow(during);
	if (wefti_signal_taken())
		wefti_signals_run();
	run(&h);
	store_seq_cst(&wefti_pt.mask, h.mask);
	if (unlikely(!wefti_pt_green())) {
		/* The handler has forked, and this is the child: the mask is the kernel's. */
		wefti_os_signals_restore(h.mask);
		errno = saved;
		return;
	}
	wefti_tty_follow(h.mask);
	wefti_signals_want(~h.mask);	/* signals that came meanwhile */
	errno = saved;
}

static int is_done(const struct sigaction *action, int signal)
{
	if (action->sa_handler == SIG_DFL)
		by_default(signal);
	return action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN;
}

void wefti_signal_act(siginfo_t *info)
{
	struct sigaction action;

	wefti_signal_action(info->si_signo, &action);
	if (!is_done(&action, info->si_signo))
		call(&action, info);
}

int wefti_signal_act_if_default(int signal)
{
	struct sigaction action;

	wefti_signal_action(signal, &action);
	return is_done(&action, signal);
}
