/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/signal_caught.c - signals at a kernel thread that carries threads
 *
 * These are: a signal that a system call has raised for its caller (SIGPIPE, SIGXFSZ),
 * the profiler's, the one that abort() sends, a signal that an inherited mask lets in,
 * and faults. The kernel calls the runtime's entry (os/signal/caught.h). The signal is
 * for the carried thread if that thread has caused it or lets it in. Then it goes into
 * the thread's queue, and the preemption handler runs it where it would run any other
 * signal. Inside the runtime, in malloc or in the loader, or if the thread blocks it,
 * the signal is left for the receiver (pthread/signal/signal.c), which finds a thread
 * for it. A signal that the thread's own call has raised runs on top of malloc too: its
 * handler has to run before the call returns.
 *
 * A signal that is left has a place, found by its number.
 *
 * States of the place
 *   NONE		no signal is there
 *   COMES	the signal is being written down
 *   WAITS	the receiver may take the signal
 *
 *   NONE --leave--> COMES --leave--> WAITS --take, by the receiver--> NONE
 *
 * Writers
 *   place.state  leave, wefti_caught_take, wefti_signals_catch
 *   waits  leave, wefti_caught_take, wefti_signals_catch
 *
 * A signal that comes while one of its number waits merges with it, as in the kernel.
 * Wait-free: the CAS to COMES gives the place to one writer, and the others go without
 * it. All accesses are seq_cst.
 */
#include <sys/syscall.h>

#include "os/kthread/kthread.h"
#include "os/signal/caught.h"
#include "os/signal/signal.h"
#include "os/signal/trap.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/signal_queue.h"
#include "syscall.h"

#define SIGNALS		64

/* Raised by a write to a pipe without a reader, or to a file at its size limit. */
#define RAISED	(WEFTI_SIGNAL_BIT(SIGPIPE) | WEFTI_SIGNAL_BIT(SIGXFSZ))

enum { NONE, COMES, WAITS };

static struct place {
	_Atomic uint32_t state;
	struct wefti_thread *to;	/* in COMES the writer's, then the receiver's */
	siginfo_t info;
} places[SIGNALS + 1] TABLE;

static _Atomic uint64_t waits;		/* bits of numbers; set after WAITS */

static void leave(const siginfo_t *info, struct wefti_thread *to)
{
	struct place *p = &places[info->si_signo];
	uint32_t none = NONE;

	if (!cas_seq_cst(&p->state, &none, COMES))
		return;
	p->info = *info;
	p->to = to;
	store_seq_cst(&p->state, WAITS);
	fetch_or_seq_cst(&waits, WEFTI_SIGNAL_BIT(info->si_signo));
	wefti_signals_wake_receiver();
}

void wefti_caught_leave(const siginfo_t *info)
{
	leave(info, NULL);
}

int wefti_caught_take(siginfo_t *info, struct wefti_thread **to)
{
	const uint64_t all = load_seq_cst(&waits);
	const int signal = all ? __builtin_ctzll(all) + 1 : 0;
	struct place *p = &places[signal];

	if (!signal)
		return 0;
	fetch_and_seq_cst(&waits, ~WEFTI_SIGNAL_BIT(signal));
	*info = p->info;
	*to = p->to;
	store_seq_cst(&p->state, NONE);
	return 1;
}

/* --- which thread the signal is for -------------------------------- */

/*
 * The child of a vfork() has our memory. Kernel threads that are not ours have no self.
 */
static int is_ours(const struct wefti_thread *self)
{
	return self && self->kind != WEFTI_KIND_FOREIGN && wefti_pt_is_started() &&
	       wefti_arch_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) == wefti_pt_pid();
}

static int is_green(const struct wefti_thread *self)
{
	return self->kind == WEFTI_KIND_GREEN || self->kind == WEFTI_KIND_MAIN;
}

/* Does what the kernel would do if it had the program's action. */
static void act_as_kernel(siginfo_t *info, ucontext_t *uc)
{
	const int signal = info->si_signo;
	struct sigaction action;
	uint64_t mask = wefti_os_ucontext_mask(uc);

	wefti_os_caught(signal, &action);
	if (action.sa_handler == SIG_DFL)
		wefti_os_raise_default(signal);
	if (action.sa_handler == SIG_IGN)
		return;
	mask |= wefti_signal_mask(&action.sa_mask);
	if (!(action.sa_flags & SA_NODEFER))
		mask |= WEFTI_SIGNAL_BIT(signal);
	wefti_os_signals_restore(mask);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(signal, info, uc);
	else
		action.sa_handler(signal);
}

/* Was it sent to this kernel thread, by a call of its thread or by the id? */
static int is_for_carrier(const siginfo_t *info)
{
	if (info->si_pid != wefti_pt_pid())
		return 0;
	return info->si_code == SI_TKILL ||
	       (info->si_code == SI_USER &&
		(WEFTI_SIGNAL_BIT(info->si_signo) & RAISED));
}

/* Returns 1 if the signal came to no thread of ours; then it has been acted on. */
int wefti_signal_is_foreigns(siginfo_t *info, ucontext_t *uc)
{
	const struct wefti_thread *self = wefti_self();

	if (is_ours(self) && (is_green(self) || info->si_code <= 0))
		return 0;
	act_as_kernel(info, uc);
	return 1;
}

static int comes(siginfo_t *info, ucontext_t *uc)
{
	const uint64_t bit = WEFTI_SIGNAL_BIT(info->si_signo);
	struct wefti_thread *self = wefti_self();
	int is_for_self;

	if (wefti_signal_is_foreigns(info, uc))
		return 0;
	is_for_self = is_green(self) && is_for_carrier(info);
	/* libc's abort() may have unblocked it, but only in the kernel thread's mask. */
	if (is_for_self && info->si_signo == SIGABRT)
		fetch_and_seq_cst(&wefti_pt.mask, ~bit);
	if (is_green(self) && !load_relaxed(&self->in_runtime) &&
	    (is_for_self || !(load_relaxed(&wefti_pt.mask) & bit)))
		return 1;
	leave(info, is_for_self ? self : NULL);
	return 0;
}

static void later(const siginfo_t *info)
{
	leave(info, is_for_carrier(info) ? wefti_self() : NULL);
}

/* --- what is caught ------------------------------------------------ */

/* Signals that a call raises are caught even by default: the thread may block them. */
int wefti_signal_is_caught(int signal, sighandler_t handler)
{
	if (handler == SIG_IGN || signal == SIGKILL || signal == SIGSTOP ||
	    signal == wefti_os_preempt_signal())
		return 0;
	return handler != SIG_DFL || (WEFTI_SIGNAL_BIT(signal) & RAISED);
}

static const struct wefti_os_catcher catcher = {
	.comes = comes, .later = later,
	.place = wefti_fault_place, .handle = wefti_fault_handle,
};

static uint64_t caught_before;	/* the program had handlers before the start */

/* Called before the runtime has handlers of its own. */
void wefti_signals_note_actions(void)
{
	struct sigaction now;

	caught_before = 0;
	for (int s = 1; s <= SIGNALS; s++) {
		if (!wefti_os_signal_action(s, &now) ||
		    !wefti_signal_is_caught(s, now.sa_handler) ||
		    (s == SIGSYS && wefti_os_trap_action(&now)))
			continue;
		wefti_os_catch_note(s, &now);
		caught_before |= WEFTI_SIGNAL_BIT(s);
	}
	wefti_os_signals_let_in(WEFTI_SIGNALS_LET_IN | wefti_tty_begin());
}

/* Called when there is no other thread yet. */
void wefti_signals_catch(void)
{
	wefti_os_catcher_set(&catcher);
	store_seq_cst(&waits, (uint64_t)0);
	for (int s = 1; s <= SIGNALS; s++) {
		store_seq_cst(&places[s].state, NONE);
		if (caught_before & WEFTI_SIGNAL_BIT(s))
			wefti_os_catch_noted(s);
	}
}
