/* SPDX-License-Identifier: MIT */
/*
 * os/signal/signal.c - handlers, masks and alternate stacks, as the runtime needs
 *
 * Writers
 *   real  try_action
 */
#include "os/signal/signal.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interrupted.h"
#include "lockfree/atomic.h"
#include "os/call/fatal.h"
#include "os/call/vm.h"
#include "os/libc/real.h"
#include "os/signal/caught.h"
#include "signal_frame.h"
#include "syscall.h"

#define ALTSTACK_ROOM		(64 * 1024)	/* for the unwinder */
#define FRAMES_MOST		4	/* of nested signals */
#define SIGNAL_BIT(s)		((uint64_t)1 << ((s) - 1))

/* glibc keeps these to itself: SIGCANCEL and SIGSETXID. */
#define LIBC_SIGNALS		(SIGNAL_BIT(32) | SIGNAL_BIT(33))

/* Our signal preempts. Only a handler that has just begun is not interrupted by it. */
#define ESSENTIAL (ALONE | SIGNAL_BIT(wefti_os_preempt_signal()))

#define ALONE	  (SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | \
		   SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGILL) | \
		   SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGSYS) | LIBC_SIGNALS)

typedef int sigaction_fn(int signal, const struct sigaction *new,
			 struct sigaction *old);

static uint64_t change_mask(int how, const uint64_t *mask)
{
	uint64_t old = 0;
	long ret = wefti_arch_syscall(SYS_rt_sigprocmask, how, (long)mask,
				      (long)&old, sizeof(old), 0, 0);

	if (ret != 0)
		wefti_os_fatal("rt_sigprocmask", ret);
	return old;
}

static uint64_t let_in = SIGNAL_BIT(SIGPROF);

void wefti_os_signals_let_in(uint64_t signals)
{
	let_in = signals;
}

void wefti_os_signals_carry(void)
{
	change_mask(SIG_UNBLOCK, &let_in);
}

uint64_t wefti_os_signals_block(void)
{
	const uint64_t mask = ~ESSENTIAL;

	return change_mask(SIG_BLOCK, &mask);
}

uint64_t wefti_os_signals_own(void)
{
	const uint64_t mask = ~ESSENTIAL;

	return change_mask(SIG_SETMASK, &mask);
}

void wefti_os_signals_restore(uint64_t mask)
{
	change_mask(SIG_SETMASK, &mask);
}

void wefti_os_signal_unblock(int signal)
{
	const uint64_t mask = SIGNAL_BIT(signal);

	change_mask(SIG_UNBLOCK, &mask);
}

void wefti_os_signals_change(uint64_t block, uint64_t unblock)
{
	if (block)
		change_mask(SIG_BLOCK, &block);
	if (unblock)
		change_mask(SIG_UNBLOCK, &unblock);
}

/* Returns what sigaction() does. */
static int try_action(int signal, const struct sigaction *new,
		      struct sigaction *old)
{
	static _Atomic(sigaction_fn *) real;
	sigaction_fn *f = load_seq_cst(&real);

	if (!f) {
		f = (sigaction_fn *)wefti_os_real("sigaction");
		if (!f)
			f = sigaction;
		store_seq_cst(&real, f);
	}
	return f(signal, new, old);
}

static void set_action(int signal, const struct sigaction *new,
		       struct sigaction *old)
{
	if (try_action(signal, new, old) != 0)
		wefti_os_fatal("sigaction", -errno);
}

int wefti_os_signal_action(int signal, struct sigaction *now)
{
	int saved = errno, is_one = try_action(signal, NULL, now) == 0;

	errno = saved;
	return is_one;
}

/*
 * The program's action. SIG_DFL for a number that is no signal, or is libc's own.
 */
static void get_action(int signal, struct sigaction *now)
{
	if (!wefti_os_signal_action(signal, now))
		*now = (struct sigaction){ .sa_handler = SIG_DFL };
	if (signal == wefti_os_preempt_signal())
		wefti_os_signal_preempt_hides(now);
	(void)wefti_os_caught_hides(signal, now);
}

void wefti_os_signal_install(int signal, wefti_os_handler *handler,
			     int flags, struct sigaction *old)
{
	struct sigaction action = {
		.sa_sigaction = handler,
		.sa_flags = SA_SIGINFO | SA_RESTART |
			    (flags & ~WEFTI_OS_SA_ALONE),
	};
	const uint64_t others = ~ALONE;

	if (flags & WEFTI_OS_SA_ALONE)
		memcpy(&action.sa_mask, &others, sizeof(others));
	set_action(signal, &action, old);
}

void wefti_os_signal_restore(int signal, const struct sigaction *old)
{
	set_action(signal, old, NULL);
}

void wefti_os_signal_remove(int signal, wefti_os_handler *ours,
			    const struct sigaction *old)
{
	struct sigaction now;

	if (wefti_os_signal_action(signal, &now) && now.sa_sigaction == ours)
		set_action(signal, old, NULL);
}

void wefti_os_signal_forward(int signal, siginfo_t *info, void *context,
			     const struct sigaction *old)
{
	if (old->sa_handler == SIG_DFL)
		set_action(signal, old, NULL);
	else if (old->sa_handler == SIG_IGN)
		return;
	else if (old->sa_flags & SA_SIGINFO)
		old->sa_sigaction(signal, info, context);
	else
		old->sa_handler(signal);
}

_Noreturn void wefti_os_raise_default(int signal)
{
	const struct sigaction action = { .sa_handler = SIG_DFL };
	long tid = wefti_arch_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);

	set_action(signal, &action, NULL);
	wefti_arch_syscall(SYS_tgkill, getpid(), tid, signal, 0, 0, 0);
	wefti_os_signal_unblock(signal);
	/* The signal's default action does not end the program. */
	wefti_os_fatal("raise", signal);
}

int wefti_os_signal_has_handler(int signal, wefti_os_handler *ours)
{
	struct sigaction now;

	get_action(signal, &now);
	return now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN &&
	       now.sa_sigaction != ours;
}

int wefti_os_signal_is_ignored(int signal)
{
	struct sigaction now;

	get_action(signal, &now);
	return now.sa_handler == SIG_IGN;
}

int wefti_os_signal_is_blocked(int signal)
{
	return change_mask(SIG_BLOCK, NULL) & SIGNAL_BIT(signal) ? 1 : 0;
}

size_t wefti_os_signal_frame_bytes(void)
{
	int saved = errno;	/* getauxval() may set it to ENOENT */
	size_t frame = getauxval(AT_MINSIGSTKSZ);

	errno = saved;
	return frame < (size_t)MINSIGSTKSZ ? (size_t)MINSIGSTKSZ : frame;
}

static size_t altstack_bytes(void)
{
	size_t page = wefti_os_page_size();

	return (wefti_os_signal_frame_bytes() + ALTSTACK_ROOM + page - 1) &
	       ~(page - 1);
}

/* Asks the kernel: a layer above may define a sigaltstack() that reports the thread's. */
static void set_altstack(const stack_t *new, stack_t *old)
{
	long ret = wefti_arch_syscall(SYS_sigaltstack, (long)new, (long)old, 0,
				      0, 0, 0);

	if (ret != 0)
		wefti_os_fatal("sigaltstack", ret);
}

void wefti_os_altstack_install(void **out)
{
	stack_t new = { .ss_size = altstack_bytes() }, old;

	*out = NULL;
	set_altstack(NULL, &old);
	if (!(old.ss_flags & SS_DISABLE))
		return;
	new.ss_sp = wefti_os_vm_reserve(new.ss_size);
	if (!new.ss_sp)
		return;
	set_altstack(&new, NULL);
	*out = new.ss_sp;
}

void wefti_os_altstack_remove(void *altstack)
{
	const stack_t none = { .ss_flags = SS_DISABLE };

	if (!altstack)
		return;
	set_altstack(&none, NULL);
	wefti_os_vm_unmap(altstack, altstack_bytes());
}

uint64_t wefti_os_signal_mask(void)
{
	return change_mask(SIG_BLOCK, NULL);
}

uint64_t wefti_os_ucontext_mask(const ucontext_t *context)
{
	uint64_t mask;

	memcpy(&mask, &context->uc_sigmask, sizeof(mask));
	return mask;
}

void wefti_os_ucontext_set_mask(ucontext_t *context, uint64_t mask)
{
	memcpy(&context->uc_sigmask, &mask, sizeof(mask));
}

void wefti_os_altstack_patch(ucontext_t *context, void *altstack)
{
	wefti_os_ucontext_set_mask(context, wefti_os_signal_mask());
	if (altstack)
		context->uc_stack = (stack_t){
			.ss_sp = altstack, .ss_size = altstack_bytes(),
		};
	else
		set_altstack(NULL, &context->uc_stack);
}

void wefti_os_altstack_patch_all(ucontext_t *context, int keeps_mask)
{
	const uint64_t first = wefti_os_ucontext_mask(context);

	for (int i = 0; context && i < FRAMES_MOST; i++) {
		const uint64_t mask = wefti_os_ucontext_mask(context);

		wefti_os_altstack_patch(context, NULL);
		if (keeps_mask || mask != first)
			wefti_os_ucontext_set_mask(context, mask);
		context = wefti_arch_frame_returns(context);
	}
}
