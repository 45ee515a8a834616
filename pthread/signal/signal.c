/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/signal.c - signals: which thread gets them, and when handlers run
 *
 * A green thread's mask cannot be the mask of the kernel thread that carries it. So all
 * kernel threads of the runtime block all signals, except those that an instruction
 * causes and the runtime's own. One kernel thread, the receiver, takes the signals of the
 * process by sigtimedwait(). It looks for a thread that waits for the signal or does not
 * block it, and makes that thread run the handler. A parked thread is resumed for that. A
 * running thread is interrupted where it may be preempted. For a signal without
 * a handler the kernel keeps the program's action, and is asked when the signal comes;
 * handlers are kept by os/signal/caught.c. The receiver also
 * is the runtime's observer (observe/observer.h). So SIGQUIT is the observer's if the
 * program leaves it alone, and a program has one kernel thread less.
 *
 * A signal that every thread blocks is left in the kernel until a thread wants it
 * (pthread/signal/signal_left.c).
 *
 * Writers
 *   pt.mask  wefti_signals_begin, wefti_signals_hold, wefti_signals_set_mask,
 *       wefti_signals_leave_mask; create.c: prepare; jump.c: go_back;
 *       signal_act.c: call; signal_queue.c: wefti_signals_thread_ends;
 *       signal_caught.c: comes; signal_fault.c: handle
 *   pt.told  wefti_signals_hook; signal_queue.h: wefti_signal_taken
 *   receiver_tid  receiver_main, wefti_signals_forget
 */
#include "pthread/signal/signal.h"

#include <sys/syscall.h>

#include "observe/observer.h"
#include "os/call/clock.h"
#include "os/call/fatal.h"
#include "os/call/futex.h"
#include "os/call/missing.h"
#include "os/call/tid.h"
#include "os/kthread/kthread.h"
#include "os/signal/errand.h"
#include "os/signal/signal.h"
#include "pthread/core/above.h"
#include "pthread/core/real.h"
#include "pthread/core/started.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/interrupt.h"
#include "pthread/signal/signal_list.h"
#include "pthread/signal/signal_queue.h"
#include "pthread/signal/thread_timer.h"
#include "sched/preempt.h"
#include "syscall.h"

#define WAKE	SIGURG	/* the receiver looks again what to receive */
#define STACK	(128 * 1024)
#define FIRST_RT	32

static struct wefti_os_kthread receiver;
static _Atomic uint32_t receiver_tid;	/* a futex; 0: none */
static uint64_t main_mask;		/* of the first kernel thread, before the start */

void wefti_signals_wake_receiver(void)
{
	uint32_t tid = load_seq_cst(&receiver_tid);

	if (tid)
		wefti_os_kthread_signal((int)tid, WAKE);
}

int wefti_signals_receiver(void)
{
	return (int)load_seq_cst(&receiver_tid);
}

uint64_t wefti_signals_mask(void)
{
	sigset_t set;

	if (wefti_pt_is_started() && wefti_self() &&
	    wefti_self()->kind != WEFTI_KIND_FOREIGN)
		return load_relaxed(&wefti_pt.mask);
	REAL(pthread_sigmask)(SIG_BLOCK, NULL, &set);
	return wefti_signal_mask(&set);
}

/* uc: where the thread was interrupted, for the handlers; NULL: the thread has called. */
static void run_all(ucontext_t *uc)
{
	ucontext_t *const outer = wefti_pt.interrupted;

	int signal;

	if (!wefti_pt_green())
		return;
	wefti_pt.interrupted = uc;
	do {
		siginfo_t info;

		/* Else the monitor would interrupt the thread's next call for nothing. */
		wefti_preempt_heard(wefti_self());
		wefti_signal_taking();
		signal = wefti_signal_get(~load_relaxed(&wefti_pt.mask), 0,
					  &info);
		if (signal)
			wefti_signal_act(&info);
		/* In a child that the handler has made, the kernel calls the handlers. */
		if (unlikely(!wefti_pt_green())) {
			wefti_pt.interrupted = outer;
			return;
		}
	} while (wefti_signal_taken() || signal);
	wefti_pt.interrupted = outer;
	/* The monitor insisted on these too, and no longer does. */
	wefti_cancel_point_async();
	wefti_above.thread_interrupted();
}

/*
 * Takes the signals sent to the caller, and those of the process only if the caller was
 * told of them: others get the rest.
 */
void wefti_signals_run(void)
{
	if (wefti_pt_is_urgent(WEFTI_URGENT_SIGNAL))
		run_all(NULL);
}

/* In a region, the call that may block acts, or the caller behind it. */
COLD void wefti_signals_run_urgent(void)
{
	wefti_signals_run();
	if (wefti_pt_green() && wefti_pt_is_urgent(WEFTI_URGENT_CANCEL) &&
	    !load_seq_cst(&wefti_pt.cancel_disabled) &&
	    !wefti_pt.cancel_held && wefti_self()->cold->block_depth == 0)
		wefti_cancel_show();
}

/*
 * When this runs, the thread is no longer insisted on. A sender stores its reason first,
 * then insists. A reason that comes while this runs makes it run again
 * (os/signal/signal.c).
 */
void wefti_signals_hook(ucontext_t *uc, const siginfo_t *info)
{
	const uint32_t ending = wefti_pt.handled_no_restart;

	if (info)
		wefti_signal_received_here(info);
	if (load_relaxed(&wefti_pt.taking)) {
		store_relaxed(&wefti_pt.told, 1);
	} else if (wefti_pt_is_urgent(WEFTI_URGENT_SIGNAL)) {
		run_all(uc);
		if (unlikely(!wefti_pt_green())) {
			wefti_os_ucontext_set_mask(uc, load_relaxed(&wefti_pt.mask));
			return;
		}
		wefti_above.handlers_ran();
	}
	wefti_cancel_point_async();
	wefti_above.thread_interrupted();
	if (wefti_pt.handled_no_restart != ending && wefti_tty_has_sent(info))
		wefti_interrupt_by_terminal(uc);
	else if (wefti_pt.handled_no_restart != ending)
		wefti_interrupt_by_handler(uc);
	wefti_interrupt_by_cancel(uc);
}

void wefti_signals_set_mask(uint64_t mask)
{
	store_seq_cst(&wefti_pt.mask, mask);
	wefti_tty_follow(mask);
	wefti_signals_want(~mask);
	run_all(NULL);
}

void wefti_signals_leave_mask(uint64_t mask, ucontext_t *uc)
{
	mask &= WEFTI_SIGNALS_MASKABLE;
	store_seq_cst(&wefti_pt.mask, mask);
	wefti_tty_follow(mask);
	wefti_signals_want(~mask);
	run_all(uc);
}

int wefti_signal_take(uint64_t set, siginfo_t *info)
{
	int signal;

	do {
		wefti_signals_want(set);
		signal = wefti_signal_get(set, 1, info);
	} while (!signal && (wefti_signals_in_kernel() & set));
	return signal;
}

/* --- the receiver -------------------------------------------------- */

/*
 * A wake-up must always reach the receiver. Signals for which there is no room wait in the
 * kernel.
 */
static uint64_t receivable(void)
{
	uint64_t set = WEFTI_SIGNALS_RECEIVABLE & ~wefti_signals_in_kernel();

	if (!wefti_signal_may_receive())
		set &= WEFTI_SIGNAL_BIT(FIRST_RT) - 1;
	return set | WEFTI_SIGNAL_BIT(WAKE) | WEFTI_SIGNAL_BIT(WEFTI_SIGNAL_OWNER);
}

/* SIGQUIT asks the observer for a dump, if the program leaves the signal alone. */
static int asks_for_dump(const siginfo_t *info)
{
	struct sigaction now;

	return info->si_signo == SIGQUIT &&
	       sigaction(SIGQUIT, NULL, &now) == 0 &&
	       now.sa_sigaction == wefti_observer_on_quit;
}

static void receive(siginfo_t *info)
{
	const uint64_t bit = WEFTI_SIGNAL_BIT(info->si_signo);
	struct wefti_thread *t = wefti_signal_choose(bit);

	/* If these were left in the kernel, they would come to our handlers. */
	if (!t && bit & (WEFTI_SIGNALS_LET_IN | WEFTI_SIGNAL_BIT(WAKE)))
		wefti_signal_received(info);
	else if (!t)
		wefti_signal_keep_in_kernel(info);
	else if (wefti_signal_likes(t, bit) != WEFTI_LETS_IN ||
		 !wefti_signal_act_if_default(info->si_signo))
		wefti_signal_received(info);
}

static void receive_left(void)
{
	struct wefti_thread *to;
	siginfo_t info;

	while (wefti_caught_take(&info, &to)) {
		if (to)
			(void)wefti_signal_send(to, &info);
		else
			receive(&info);
	}
}

/* Waits for a signal until `then`; the result is sigtimedwait(2)'s. */
static long wait_until(int64_t then, siginfo_t *info)
{
	const uint64_t set = receivable();
	int64_t wait = then - wefti_os_now_ns();
	struct timespec time = { .tv_sec = wait / 1000000000,
				 .tv_nsec = wait % 1000000000 };

	if (wait < 0)
		time = (struct timespec){ 0, 0 };
	return wefti_arch_syscall(SYS_rt_sigtimedwait, (long)&set, (long)info,
				  then == INT64_MAX ? 0 : (long)&time,
				  sizeof(set), 0, 0);
}

static void serve_others(void)
{
	for (wefti_above_fn *const *fn = wefti_above.receiver_woken; *fn; fn++)
		(*fn)();
}

static void receiver_main(void *unused)
{
	sigset_t wake;

	(void)unused;
	/* A blocked wake-up stays pending, whatever the receiver is doing. */
	sigemptyset(&wake);
	sigaddset(&wake, WAKE);
	REAL(pthread_sigmask)(SIG_BLOCK, &wake, NULL);
	wefti_os_signals_restore(wefti_os_signal_mask() |
				 WEFTI_SIGNAL_BIT(WEFTI_SIGNAL_OWNER));
	wefti_above.receiver_begins();
	store_seq_cst(&receiver_tid, (uint32_t)wefti_os_gettid());
	wefti_os_futex_wake(&receiver_tid, 1);
	for (;;) {
		siginfo_t info;
		long signal = wait_until(wefti_observer_work(), &info);

		if (unlikely(wefti_os_is_missing(signal)))
			wefti_os_fatal("rt_sigtimedwait", signal);
		serve_others();
		receive_left();
		if (signal == WAKE && info.si_code == SI_TKILL) {
			wefti_os_errand_run();	/* SIGURG runs no handler here */
			continue;
		}
		if (signal == WAKE && (wefti_observer_on_asked(&info) ||
				       wefti_thread_timer_fired(&info))) {
			wefti_os_errand_run();	/* a wake-up may have merged with it */
			continue;
		}
		if (signal == WEFTI_SIGNAL_OWNER)
			wefti_above.owner_signalled(&info);
		else if (signal > 0 && asks_for_dump(&info))
			wefti_observer_on_quit(SIGQUIT, &info, NULL);
		else if (signal > 0 && wefti_pt_is_started())
			receive(&info);
		else if (signal > 0)
			wefti_signal_give_back(&info);
	}
}

int wefti_signals_begin(void)
{
	int error;

	wefti_signals_note_actions();
	main_mask = wefti_os_signals_own();
	store_seq_cst(&wefti_pt.mask, main_mask);
	wefti_signal_list_begin();
	error = wefti_os_kthread_create(&receiver, STACK, receiver_main,
					NULL, "weft-signals");
	if (error) {
		wefti_os_signals_restore(main_mask);
		return error;
	}
	while (load_seq_cst(&receiver_tid) == 0)
		wefti_os_futex_wait(&receiver_tid, 0, INT64_MAX);
	wefti_os_kthread_detach(&receiver);
	wefti_observer_lend(wefti_signals_wake_receiver);
	/* If the program blocks SIGQUIT, the observer leaves it alone. */
	if (!(main_mask & WEFTI_SIGNAL_BIT(SIGQUIT)))
		wefti_os_signal_unblock(SIGQUIT);
	return 0;
}

void wefti_signals_started(void)
{
	(void)wefti_os_signals_own();
	wefti_signals_take_own();
	wefti_signals_left_begin(load_relaxed(&wefti_pt.mask));
	wefti_sigaction_begin();
	wefti_os_signals_carry();
	wefti_signals_wake_receiver();
}

/* From now on the receiver gives all signals back to the kernel. */
void wefti_signals_end(void)
{
	wefti_os_signals_restore(main_mask);
}

/* In the child of a fork whose thread was green: the mask that its thread had. */
static int child_has_mask;
static uint64_t child_mask;

void wefti_signals_forget(void)
{
	if (!wefti_pt_is_started())
		return;
	wefti_sigaction_forget();
	wefti_tty_forget();
	wefti_signal_queue_forget();
	store_seq_cst(&receiver_tid, 0);
	wefti_signals_left_begin(0);
	child_has_mask = !wefti_pt_is_libcs();
	child_mask = load_relaxed(&wefti_pt.mask);
}

void wefti_signals_child_takes(void)
{
	if (child_has_mask)
		wefti_os_signals_restore(child_mask);
	child_has_mask = 0;
}

uint64_t wefti_signals_real_begin(void)
{
	uint64_t before = wefti_os_signals_block();

	wefti_above.becomes_process();
	wefti_os_signals_restore(load_relaxed(&wefti_pt.mask));
	return before;
}

void wefti_signals_real_end(uint64_t before)
{
	wefti_os_signals_restore(before);
}
