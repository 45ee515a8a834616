/* SPDX-License-Identifier: MIT */
/* pthread/signal/signal.h - signals: which thread gets them, and when handlers run */
#ifndef WEFT_PTHREAD_SIGNAL_SIGNAL_H
#define WEFT_PTHREAD_SIGNAL_SIGNAL_H

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "pthread/core/self.h"

#define WEFTI_SIGNAL_BIT(s)	(UINT64_C(1) << ((s) - 1))

/*
 * The kernel's first real-time signal. libc keeps it for itself; here only the receiver
 * gets it (pthread/io/owner.h).
 */
#define WEFTI_SIGNAL_OWNER	32

/* The signals that instructions cause. */
#define WEFTI_SIGNALS_FAULTS						\
	(WEFTI_SIGNAL_BIT(SIGSEGV) | WEFTI_SIGNAL_BIT(SIGBUS) |		\
	 WEFTI_SIGNAL_BIT(SIGFPE) | WEFTI_SIGNAL_BIT(SIGILL) |		\
	 WEFTI_SIGNAL_BIT(SIGTRAP) | WEFTI_SIGNAL_BIT(SIGSYS))

/* What a terminal sends to the background: pthread/signal/signal_tty.c. */
#define WEFTI_SIGNALS_TTY						\
	(WEFTI_SIGNAL_BIT(SIGTTIN) | WEFTI_SIGNAL_BIT(SIGTTOU))

/* What kernel threads that carry threads let in besides the faults. */
#define WEFTI_SIGNALS_LET_IN						\
	(WEFTI_SIGNAL_BIT(SIGPIPE) | WEFTI_SIGNAL_BIT(SIGXFSZ) |	\
	 WEFTI_SIGNAL_BIT(SIGPROF))

/* All signals except faults, libc's own, and those that cannot be waited for. */
#define WEFTI_SIGNALS_RECEIVABLE					\
	(~(WEFTI_SIGNALS_FAULTS |					\
	   WEFTI_SIGNAL_BIT(SIGKILL) | WEFTI_SIGNAL_BIT(SIGSTOP) |	\
	   WEFTI_SIGNAL_BIT(32) | WEFTI_SIGNAL_BIT(33)))

#define WEFTI_SIGNALS_MASKABLE						\
	(~(WEFTI_SIGNAL_BIT(SIGKILL) | WEFTI_SIGNAL_BIT(SIGSTOP)))

/* Masks are as the kernel's: one bit for each signal. */
static inline uint64_t wefti_signal_mask(const sigset_t *set)
{
	return *(const uint64_t *)(const void *)set;
}

static inline void wefti_signal_put_mask(sigset_t *set, uint64_t mask)
{
	sigemptyset(set);
	*(uint64_t *)(void *)set = mask;
}

/* Before the runtime starts; when it has started; if it has not. Returns 0 or -errno. */
int wefti_signals_begin(void);
void wefti_signals_started(void);
void wefti_signals_end(void);

/*
 * In the child of a fork. forget: first. takes: when all is as in a process without
 * threads, the thread's mask is in force again, and the kernel calls its handlers.
 */
void wefti_signals_forget(void);
void wefti_signals_child_takes(void);

/*
 * pthread/signal/sigaction.c. action(): the program's action for the signal. reset(): the
 * action becomes SIG_DFL (for SA_RESETHAND). begin(), forget(): the runtime's own
 * handlers are in place from now on, or no longer.
 */
void wefti_signal_action(int signal, struct sigaction *now);
void wefti_signal_reset(int signal, const struct sigaction *from);
void wefti_sigaction_begin(void);
void wefti_sigaction_forget(void);

/*
 * pthread/signal/signal_caught.c. note_actions(): before the runtime starts. catch():
 * when it has started. leave(): a signal has come to a kernel thread, and is left for the
 * receiver. take(): the receiver takes it; it is for a thread or (NULL) the process.
 */
void wefti_signals_note_actions(void);
void wefti_signals_catch(void);
void wefti_caught_leave(const siginfo_t *info);
int wefti_caught_take(siginfo_t *info, struct wefti_thread **to);
int wefti_signal_is_caught(int signal, sighandler_t handler);
int wefti_signal_is_foreigns(siginfo_t *info, ucontext_t *uc);

/*
 * pthread/signal/signal_tty.c. begin(): before the runtime starts; returns which signals
 * to let in besides. expect(): a new thread will have this mask. follow(): the caller has
 * this mask now. forget(): in the child of a fork.
 */
uint64_t wefti_tty_begin(void);
void wefti_tty_expect(uint64_t mask);
void wefti_tty_follow(uint64_t mask);
void wefti_tty_forget(void);

/*
 * Did a terminal send the signal, at a call that the kernel restarts? info may be NULL.
 */
static inline int wefti_tty_has_sent(const siginfo_t *info)
{
	return info && info->si_code == SI_KERNEL &&
	       (WEFTI_SIGNAL_BIT(info->si_signo) & WEFTI_SIGNALS_TTY);
}

/* pthread/signal/signal_fault.c: os/signal/caught.h says what these are for. */
uintptr_t wefti_fault_place(siginfo_t *info, ucontext_t *uc, size_t bytes);
void wefti_fault_handle(int signal, siginfo_t *info, void *context);

/* Makes the receiver look again for work. */
void wefti_signals_wake_receiver(void);
int wefti_signals_receiver(void);	/* kernel thread; 0: none */

/* pthread/signal/signal_back.c: back to the kernel as it came; the first thread's own. */
void wefti_signal_give_back(siginfo_t *info);
void wefti_signals_take_own(void);

/* The caller's mask. thread_ends(): the calling thread ends. */
uint64_t wefti_signals_mask(void);
void wefti_signals_thread_ends(void);

/* Sets the caller's mask. The handlers of signals that it lets in run at once. */
void wefti_signals_set_mask(uint64_t mask);

/* Blocks the program's handlers until the caller passes the result to set_mask(). */
static inline uint64_t wefti_signals_hold(void)
{
	uint64_t mask = load_relaxed(&wefti_pt.mask);

	store_seq_cst(&wefti_pt.mask, ~UINT64_C(0));
	return mask;
}

/* Runs the handlers of signals that the caller was told of, and counts them. */
void wefti_signals_run(void);

/* What run_any() does where there is something. */
void wefti_signals_run_urgent(void);

/*
 * Runs them if there are any. For the end of calls. If the caller was cancelled while it
 * waited, or had no VCPU, libc's own cancellation points see that from now on.
 */
static inline void wefti_signals_run_any(void)
{
	if (unlikely(load_relaxed(&wefti_pt.urgent) &
		     (WEFTI_URGENT_SIGNAL | WEFTI_URGENT_CANCEL)))
		wefti_signals_run_urgent();
}

/*
 * Called in a handler of the runtime. uc: where the thread goes on. info: a signal that
 * has come for the thread there, or NULL.
 */
void wefti_signals_hook(ucontext_t *uc, const siginfo_t *info);

/* The same at the end of a handler of the program, which has left this mask. */
void wefti_signals_leave_mask(uint64_t mask, ucontext_t *uc);

/*
 * Sends a signal to one green thread, or (NULL) to the process. Returns 0, or EAGAIN:
 * too many signals wait.
 */
int wefti_signal_send(struct wefti_thread *to, const siginfo_t *info);

/*
 * For sigwait(): takes a signal of the set that waits for the caller. Returns 0 if there
 * is none; then the caller is marked as waiting for the set.
 */
int wefti_signal_take(uint64_t set, siginfo_t *info);
uint64_t wefti_signals_pending(void);

/* Does what SYS_rt_sigqueueinfo does. */
long wefti_signal_queue(pid_t pid, int signal, const siginfo_t *given);

/* Encloses a call that passes the caller's mask on to another program. */
uint64_t wefti_signals_real_begin(void);
void wefti_signals_real_end(uint64_t before);

#endif
