/* SPDX-License-Identifier: MIT */
/* os/signal/signal.h - handlers, masks and alternate stacks, as the runtime needs */
#ifndef WEFT_OS_SIGNAL_SIGNAL_H
#define WEFT_OS_SIGNAL_SIGNAL_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/compiler.h"

/* As in the kernel: sp == low belongs to the stack below. */
static ALWAYS_INLINE int wefti_os_is_on_stack(uintptr_t sp, uintptr_t low, size_t bytes)
{
	return sp - low - 1 < bytes;
}

typedef void wefti_os_handler(int signal, siginfo_t *info, void *context);

/*
 * A mask is as the kernel's: one bit for each signal. The runtime never blocks the
 * essential signals: the faults, because the kernel would kill the process; our
 * preemption signal; and libc's own two, because setuid() and pthread_cancel() would
 * wait for ever.
 */
uint64_t wefti_os_signals_block(void);		/* returns the mask before */

/*
 * The same for a kernel thread that becomes the runtime's: it lets the essential signals
 * in, whatever the program has blocked there.
 */
uint64_t wefti_os_signals_own(void);

/*
 * Kernel threads that carry VCPUs let in more signals: SIGPROF, so that a profiler sees
 * what runs, and those that a layer above has set by let_in() before the start. Each such
 * kernel thread calls carry() once, with the other signals blocked.
 */
void wefti_os_signals_let_in(uint64_t signals);
void wefti_os_signals_carry(void);
void wefti_os_signals_restore(uint64_t mask);
uint64_t wefti_os_signal_mask(void);		/* the one in force */

/* The mask of the context that a handler has interrupted. */
uint64_t wefti_os_ucontext_mask(const ucontext_t *context);
void wefti_os_ucontext_set_mask(ucontext_t *context, uint64_t mask);
void wefti_os_signal_unblock(int signal);	/* in this kernel thread */
void wefti_os_signals_change(uint64_t block, uint64_t unblock);	/* the same */

/*
 * Installs a handler that restarts system calls; flags: more flags of sigaction(). *old
 * (may be NULL) gets the action before, for restore and forward. SA_ALONE: all signals
 * except faults and libc's own are blocked while the handler begins.
 */
#define WEFTI_OS_SA_ALONE	0x00400000	/* neither the kernel's nor libc's */

/* Sanitizers call a program's handlers from handlers of their own. */
#if defined(WEFT_TSAN) || defined(WEFT_ASAN)
#define WEFTI_OS_ON_STACK	0
#else
#define WEFTI_OS_ON_STACK	SA_ONSTACK
#endif

void wefti_os_signal_install(int signal, wefti_os_handler *handler, int flags,
			     struct sigaction *old);
void wefti_os_signal_restore(int signal, const struct sigaction *old);

/* Restores *old, unless the program has installed another handler meanwhile. */
void wefti_os_signal_remove(int signal, wefti_os_handler *ours,
			    const struct sigaction *old);

/*
 * Called in a handler: leaves the signal to the action before ours. A program's handler
 * is called. A default action is installed again, and this returns. If the caller then
 * returns from its handler, a fault comes again; any other signal has to be raised
 * again.
 */
void wefti_os_signal_forward(int signal, siginfo_t *info, void *context,
			     const struct sigaction *old);

/* How much stack a signal needs on this machine, at most, to be handled there. */
size_t wefti_os_signal_frame_bytes(void);

/* Ends the program by the default action of `signal`. */
_Noreturn void wefti_os_raise_default(int signal);

/*
 * The signal that preempts is SIGURG. Debuggers pass it without a stop. It is ignored by
 * default, so a late one does no harm, not even after exec. It is not queued. And no
 * program uses it for its own timers, as programs use SIGRTMIN + n. A SIGURG that was not
 * sent by this process's tgkill goes to the handler that the program had.
 *
 * The handler runs on a stack of the interrupted thread, with that thread's mask. While
 * it runs, a second signal is ignored, in this thread alone: the handler may switch to
 * another thread. So there are at most two frames on a stack. Only for threads with
 * their own TLS.
 */
static inline int wefti_os_preempt_signal(void)
{
	return SIGURG;
}

/*
 * Called before the handler, with the signal blocked, on a stack that no thread keeps.
 * Returns the address in the thread's own memory below which `bytes` are free for the
 * handler. 0: nowhere; then the handler is not called. Without such a function the
 * handler always runs below the stack pointer.
 */
typedef uintptr_t wefti_os_place_fn(const ucontext_t *uc, size_t bytes);

void wefti_os_signal_preempt(wefti_os_handler *handler,
			     wefti_os_place_fn *place);	/* a second call does nothing */
void wefti_os_signal_preempt_end(void);		/* SIGURG is the program's again */

/*
 * From now on the program's handler is also called for each SIGURG that a kernel thread
 * of the process sends, on any kernel thread and stack. If another runtime preempts by
 * it too, the sender cannot be determined.
 */
void wefti_os_signal_preempt_share(void);

/* sigaction() of the program's action for this signal; one caller at a time. */
void wefti_os_signal_preempt_action(const struct sigaction *new,
				    struct sigaction *old);

/*
 * Called in the handler, in this order, for a signal that is not ours. Returns 1 if it
 * has taken the signal; then the program does not get it. Like an errand's function it
 * may run on top of anything.
 */
typedef int wefti_os_other_fn(const siginfo_t *info);
enum wefti_os_other {
	WEFTI_OS_ASKED,		/* observe/asked.c */
	WEFTI_OS_PROGRAMS,	/* a layer above, with its own way to call handlers */
	WEFTI_OS_OTHERS,
};

void wefti_os_signal_others(enum wefti_os_other who, wefti_os_other_fn *fn);

/* The caller jumps out of the handler, if it is in the handler. */
void wefti_os_signal_preempt_left(void);

/*
 * For the end of another handler, in the section weft_preempt. From hold() on until that
 * handler has returned, preemption signals are ignored in this thread, as they are while
 * the preemption handler runs.
 */
int wefti_os_signal_preempt_hold(void);
void wefti_os_signal_preempt_let(int before);

/*
 * A look at a kernel thread: the handler is called there, on the alternate stack if there
 * is one, whatever runs. look_send() returns 0 or a negative errno value. A look is
 * lost if a preemption signal is pending: ask again. Needs wefti_os_signal_preempt().
 */
void wefti_os_look_handler(wefti_os_handler *handler);
int wefti_os_look_send(int tid);

/* Replaces the kernel's action in *now by the program's. */
void wefti_os_signal_preempt_hides(struct sigaction *now);

/* The kernel's action, even if it is ours. Returns 0 if the number is no signal. */
int wefti_os_signal_action(int signal, struct sigaction *now);

/* Does the program have a handler (other than ours) for it? Takes any number. */
int wefti_os_signal_has_handler(int signal, wefti_os_handler *ours);
int wefti_os_signal_is_ignored(int signal);
int wefti_os_signal_is_blocked(int signal);	/* in this kernel thread */

/*
 * Installs this kernel thread's alternate stack. *out = NULL: out of memory, or the
 * program has one here, which stays.
 */
void wefti_os_altstack_install(void **out);
void wefti_os_altstack_remove(void *altstack);

/*
 * For a handler that has moved to another kernel thread: the return from the signal would
 * give this one the alternate stack and the mask of the first. altstack: what install()
 * gave on this kernel thread; NULL: the kernel is asked.
 */
void wefti_os_altstack_patch(ucontext_t *context, void *altstack);

/*
 * The same for `context` and, if the signal came when the thread was about to return from
 * another one, for the frame of that one, and so on. (The kernel is asked.) keeps_mask: the
 * masks stay. The mask of a frame stays too if it differs from that of `context`.
 */
void wefti_os_altstack_patch_all(ucontext_t *context, int keeps_mask);

#endif
