/* SPDX-License-Identifier: MIT */
/* os/signal/signal.h - handlers, masks and alternate stacks, as the runtime needs */
#ifndef WEFT_OS_SIGNAL_SIGNAL_H
#define WEFT_OS_SIGNAL_SIGNAL_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/compiler.h"

/* As the kernel: at the lowest address it is that of the stack below. */
static ALWAYS_INLINE int wefti_os_is_on_stack(uintptr_t sp, uintptr_t low, size_t bytes)
{
	return sp - low - 1 < bytes;
}

typedef void wefti_os_handler(int signal, siginfo_t *info, void *context);

/*
 * Masks are the kernel's, one bit a signal. Essential signals are never
 * blocked by us: the faults, which the kernel would turn into a kill; our
 * preemption signal; and libc's own two, without which setuid() and
 * pthread_cancel() wait for ever.
 */
uint64_t wefti_os_signals_block(void);		/* returns what was in force */

/*
 * The same for a kernel thread that is to be the runtime's: it lets the essential ones
 * in, whatever the program has blocked there.
 */
uint64_t wefti_os_signals_own(void);

/*
 * The kernel threads that carry VCPUs let these in as well: SIGPROF, so that a
 * profiler sees what runs, and what a layer above has said before the start. Each
 * such kernel thread calls carry() once, with the other signals blocked.
 */
void wefti_os_signals_let_in(uint64_t signals);
void wefti_os_signals_carry(void);
void wefti_os_signals_restore(uint64_t mask);
uint64_t wefti_os_signal_mask(void);		/* the one in force */

/* The mask of what a handler has interrupted. */
uint64_t wefti_os_ucontext_mask(const ucontext_t *context);
void wefti_os_ucontext_set_mask(ucontext_t *context, uint64_t mask);
void wefti_os_signal_unblock(int signal);	/* in this kernel thread */
void wefti_os_signals_change(uint64_t block, uint64_t unblock);	/* the same */

/*
 * Installs a handler that restarts system calls, with more flags as of sigaction().
 * *old (may be NULL) gets what was there, for restore and forward. SA_ALONE: all
 * signals but faults and libc's own are blocked while the handler begins.
 */
#define WEFTI_OS_SA_ALONE	0x00400000	/* neither the kernel's nor libc's */

/* Sanitizers call handlers by their own. */
#if defined(WEFT_TSAN) || defined(WEFT_ASAN)
#define WEFTI_OS_ON_STACK	0
#else
#define WEFTI_OS_ON_STACK	SA_ONSTACK
#endif

void wefti_os_signal_install(int signal, wefti_os_handler *handler, int flags,
			     struct sigaction *old);
void wefti_os_signal_restore(int signal, const struct sigaction *old);

/* The same, unless the program has put another handler there meanwhile. */
void wefti_os_signal_remove(int signal, wefti_os_handler *ours,
			    const struct sigaction *old);

/*
 * In a handler: leaves the signal to what was there before ours. A program's
 * handler is called. For the default action it is put back and this returns:
 * return from the handler too, and a fault comes again; what is no fault has
 * to be raised again.
 */
void wefti_os_signal_forward(int signal, siginfo_t *info, void *context,
			     const struct sigaction *old);

/* What a signal takes of a stack on this machine, at most, to be handled there. */
size_t wefti_os_signal_frame_bytes(void);

/* Ends the program by the default action of `signal`. */
_Noreturn void wefti_os_raise_default(int signal);

/*
 * The signal that preempts: SIGURG. Debuggers pass it without a stop, its
 * default is to be ignored (a late one harms nobody, not even after exec), it
 * is not queued, and no program takes it for its own timers as it does
 * SIGRTMIN + n. One that was not sent by this process's tgkill goes to the
 * handler that the program had.
 *
 * The handler runs on a stack of the interrupted thread's with its mask. A second
 * signal is ignored while the handler runs, in this thread alone: the handler
 * may switch to another thread. So there are two frames at most on a stack. Only
 * for threads with a TLS of their own.
 */
static inline int wefti_os_preempt_signal(void)
{
	return SIGURG;
}

/*
 * Asked before the handler is called, with the signal blocked, on a stack that no
 * thread keeps: below which address of the thread's own are `bytes` free for it? 0:
 * nowhere; then it is not called. NULL: below the stack pointer, always.
 */
typedef uintptr_t wefti_os_place_fn(const ucontext_t *uc, size_t bytes);

void wefti_os_signal_preempt(wefti_os_handler *handler,
			     wefti_os_place_fn *place);	/* again: nothing new */
void wefti_os_signal_preempt_end(void);		/* it is the program's again */

/*
 * From now on the program's handler is called for each that a kernel thread of the
 * process sends, on whatever kernel thread and stack it comes: where somebody else
 * preempts by it too, nobody can say who has sent it.
 */
void wefti_os_signal_preempt_share(void);

/* What the program has for it, as sigaction(); one caller at a time. */
void wefti_os_signal_preempt_action(const struct sigaction *new,
				    struct sigaction *old);

/*
 * Asked in the handler, in this order, of one that is not ours: returns 1 if it has
 * taken it, which is not the program's then. Like an errand's function it may meet
 * anything.
 */
typedef int wefti_os_other_fn(const siginfo_t *info);
enum wefti_os_other {
	WEFTI_OS_ASKED,		/* observe/asked.c */
	WEFTI_OS_PROGRAMS,	/* a layer above, which has its own way to handlers */
	WEFTI_OS_OTHERS,
};

void wefti_os_signal_others(enum wefti_os_other who, wefti_os_other_fn *fn);

/* The caller jumps out of the handler, if it is in it. */
void wefti_os_signal_preempt_left(void);

/*
 * The end of another handler, in the section weft_preempt: what comes from hold() on
 * until that has returned is ignored in this thread, as if by the first one.
 */
int wefti_os_signal_preempt_hold(void);
void wefti_os_signal_preempt_let(int before);

/*
 * A look at a kernel thread: its handler is called there, on the alternate stack if
 * there is one, whatever runs. `look` returns 0 or a negative errno value. One that
 * comes while a preemption signal is pending is lost: ask again. Needs
 * wefti_os_signal_preempt().
 */
void wefti_os_signal_look(wefti_os_handler *handler);
int wefti_os_kthread_look(int tid);

/* Of what the kernel has for it, the program's. */
void wefti_os_signal_preempt_hides(struct sigaction *now);

/* What the kernel has for it, ours too; of a number that is none it returns 0. */
int wefti_os_signal_action(int signal, struct sigaction *now);

/* Has the program a handler (other than ours) for it? Any signal's number. */
int wefti_os_signal_has_handler(int signal, wefti_os_handler *ours);
int wefti_os_signal_is_ignored(int signal);
int wefti_os_signal_is_blocked(int signal);	/* in this kernel thread */

/*
 * This kernel thread's alternate stack. *out = NULL: there was no memory, or
 * the program has one here, which stays.
 */
void wefti_os_altstack_install(void **out);
void wefti_os_altstack_remove(void *altstack);

/*
 * In a handler that came to another kernel thread: the return from the signal
 * would give it the alternate stack and the mask of the one it came from.
 * altstack: what install gave here; NULL asks the kernel.
 */
void wefti_os_altstack_patch(ucontext_t *context, void *altstack);

#endif
