/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/signal_fault.c - the program's handler of a fault
 *
 * The handler runs at once, in the thread, and where the fault was. If it asks for that,
 * it runs on the thread's own alternate stack. The kernel puts its frame on the alternate
 * stack of the kernel thread. From there the frame is moved, so that the handler may
 * wait, and its thread may go on elsewhere. The handler has the thread's mask: in what
 * it is told, while it runs, and in what it leaves in its context. The kernel thread's
 * mask does not change.
 */
#include <errno.h>

#include "base/compiler.h"
#include "interrupted.h"
#include "os/signal/caught.h"
#include "os/signal/signal.h"
#include "pthread/signal/altstack.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/signal_queue.h"
#include "sched/busy.h"
#include "signal_frame.h"

static int has_room(uintptr_t low, uintptr_t sp, size_t bytes)
{
	return sp - low > bytes + WEFTI_ARCH_RED_ZONE;
}

/* Where the frame goes. 0: the kernel would have found no room there. */
static uintptr_t place(const struct wefti_thread *self, int flags, uintptr_t sp,
		       size_t bytes)
{
	const struct wefti_preempt_room own = wefti_own_stack(self);
	const struct wefti_preempt_room alt = wefti_altstack_room();

	if (wefti_is_in_room(&alt, sp))
		return has_room(alt.low, sp, bytes) ? sp - WEFTI_ARCH_RED_ZONE : 0;
	if ((flags & SA_ONSTACK) && alt.bytes)
		return alt.bytes > bytes ? alt.low + alt.bytes : 0;
	if (wefti_is_in_room(&own, sp) && !has_room(own.low, sp, bytes))
		return 0;
	return sp - WEFTI_ARCH_RED_ZONE;
}

/*
 * A fault that comes although its signal is blocked ends the program. So does a fault
 * whose handler the program has removed meanwhile.
 */
uintptr_t wefti_fault_place(siginfo_t *info, ucontext_t *uc, size_t bytes)
{
	const int signal = info->si_signo;
	struct sigaction action;
	uintptr_t top;

	if (wefti_signal_is_foreigns(info, uc))
		return 0;
	wefti_os_caught(signal, &action);
	if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN ||
	    load_relaxed(&wefti_pt.mask) & WEFTI_SIGNAL_BIT(signal))
		wefti_os_raise_default(signal);
	top = place(wefti_self(), action.sa_flags, wefti_arch_ucontext_sp(uc),
		    bytes);
	if (!top)
		wefti_os_raise_default(SIGSEGV);
	return top;
}

static void call(const struct sigaction *action, siginfo_t *info, ucontext_t *uc)
{
	struct wefti_cold *cold = wefti_self()->cold;
	const int is_over_malloc = wefti_may_be_in_malloc(wefti_self(), uc);
	const uint8_t ends = wefti_pt.ends;

	cold->over_malloc += is_over_malloc;
	wefti_pt.ends = 0;	/* belongs to the interrupted call */
	if (action->sa_flags & SA_SIGINFO)
		action->sa_sigaction(info->si_signo, info, uc);
	else
		action->sa_handler(info->si_signo);
	wefti_pt.ends = ends;
	cold->over_malloc -= is_over_malloc;
}

/* Puts the thread's mask into the context before the handler, and takes it from there. */
static void handle(int signal, siginfo_t *info, ucontext_t *uc)
{
	const uint64_t before = load_relaxed(&wefti_pt.mask);
	struct sigaction action;
	uint64_t during;

	wefti_os_caught(signal, &action);
	during = before | wefti_signal_mask(&action.sa_mask);
	if (!(action.sa_flags & SA_NODEFER))
		during |= WEFTI_SIGNAL_BIT(signal);
	if (action.sa_flags & (int)SA_RESETHAND)
		wefti_signal_reset(signal, &action);
	store_seq_cst(&wefti_pt.mask, during);
	wefti_tty_follow(during);
	wefti_os_ucontext_set_mask(uc, before);
	uc->uc_stack = wefti_altstack_tell();
	uc->uc_stack.ss_flags &= SS_DISABLE;	/* as the kernel does */
	call(&action, info, uc);
	wefti_signals_leave_mask(wefti_os_ucontext_mask(uc), uc);
}

/*
 * In the section weft_preempt the thread is not preempted. Once the context has the mask
 * and the stack of this kernel thread, the thread must stay on it.
 */
__attribute__((section("weft_preempt"), noinline))
void wefti_fault_handle(int signal, siginfo_t *info, void *context)
{
	int held = wefti_os_signal_preempt_hold();

	wefti_os_signals_restore(wefti_os_ucontext_mask(context));
	wefti_os_signal_preempt_let(0);
	compiler_barrier();
	handle(signal, info, context);
	compiler_barrier();
	(void)wefti_os_signal_preempt_hold();
	compiler_barrier();
	wefti_os_altstack_patch(context, NULL);
	compiler_barrier();
	wefti_os_signal_preempt_let(held);
}
