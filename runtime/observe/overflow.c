/* SPDX-License-Identifier: MIT */
/*
 * observe/overflow.c - reports an overflow or a crash before the process is killed
 *
 * Runs on the alternate stack of the kernel thread. One line is printed if a fault is an
 * overflow, or if the default action follows (observe/crash.c). Then the fault goes to
 * the handler that the program had when the runtime started, or to the default. A signal
 * with no room for its frame on a stack counts as an overflow: the kernel then sends
 * SIGSEGV, without an address.
 *
 * Overflows need SIGSEGV and SIGBUS. The other signals are taken only if crashes are
 * reported or leave something (observe/last.c), and only where the action is the default.
 */
#include "observe/overflow.h"

#include "base/format.h"
#include "cpu.h"
#include "interrupted.h"
#include "mem/stack.h"
#include "observe/crash.h"
#include "observe/last.h"
#include "os/signal/signal.h"
#include "thread/bare.h"
#include "thread/name.h"

#define STDERR	2

/* The kernel keeps this much free below a stack that grows: stack_guard_gap. */
#define GAP	((uintptr_t)1 << 20)

/* A push, or a frame that is stored before the stack pointer moves. */
#define BELOW_SP	4096u

/* The most that is in use below the stack pointer. */
#define RED_ZONE	128u

static struct fault {
	int signal;
	int is_for_crashes;	/* alone */
	int is_taken;
	struct sigaction before;
} faults[] = {
	{ .signal = SIGSEGV }, { .signal = SIGBUS },
	{ .signal = SIGFPE, .is_for_crashes = 1 },
	{ .signal = SIGILL, .is_for_crashes = 1 },
	{ .signal = SIGABRT, .is_for_crashes = 1 },
};

#define FAULTS	(sizeof(faults) / sizeof(*faults))

/* NULL: the signal is not taken. */
static struct sigaction *before_of(int signal)
{
	for (size_t i = 0; i < FAULTS; i++)
		if (faults[i].signal == signal && faults[i].is_taken)
			return &faults[i].before;
	return NULL;
}

static void tell(const struct wefti_thread *self,
		 const struct wefti_stack *stack)
{
	const struct wefti_cold *body = self ? self->cold : NULL;
	char name[WEFTI_NAME_SHOWN];
	size_t kb = ((size_t)1 << (WEFTI_STACK_SHIFT + stack->class)) / 1024;

	if (!body || body->stack.top != stack->top) {
		wefti_print(STDERR, "weft: fault in the guard of a thread's "
			    "stack of %zu KiB, not by that thread\n", kb);
		return;
	}
	wefti_print(STDERR, "weft: stack overflow in thread \"%s\" (id %lu): "
		    "its stack of %zu KiB is full; raise "
		    "weft_attr.stack_bytes or WEFT_STACK\n",
		    wefti_crash_name(self, name), wefti_thread_id(self), kb);
}

/*
 * The process's stack has no guard of ours. The kernel maps as much of it as it grants.
 * So a fault within it, or in the gap below, is an overflow if the stack pointer is
 * there too. If the limit was raised after the start, the stack may grow beyond what is
 * known here; then nothing is reported.
 */
static int is_overflow_of_first(const struct wefti_thread *self, int code,
				uintptr_t at, uintptr_t sp)
{
	uintptr_t low, from, bytes;

	if (!self || self->kind != WEFTI_KIND_MAIN)
		return 0;
	low = (uintptr_t)self->cold->stack_low;
	from = low - GAP;
	bytes = self->cold->stack_bytes + GAP;
	if (at - from >= bytes || sp - from >= bytes || at + BELOW_SP < sp)
		return 0;
	/* In mapped memory it is something else: no code there, for example. */
	return at < low || code == SEGV_MAPERR;
}

static void tell_first(const struct wefti_thread *self)
{
	const struct wefti_cold *body = self->cold;
	char bytes[WEFTI_NAME_SHOWN];
	const char *name = wefti_crash_name(self, bytes);
	int has_name = name[0] != 0;

	wefti_print(STDERR, "weft: stack overflow in the first thread%s%s%s "
		    "(id %lu): its stack of %zu KiB is full; raise its limit "
		    "(ulimit -s)\n", has_name ? " \"" : "", name,
		    has_name ? "\"" : "", wefti_thread_id(self),
		    body->stack_bytes / 1024);
}

static int had_no_room(const siginfo_t *info, uintptr_t sp,
		       struct wefti_stack *stack)
{
	return info->si_code == SI_KERNEL &&
	       wefti_stack_of((void *)sp, stack) == WEFTI_STACK_INSIDE &&
	       sp - (uintptr_t)stack->low <
		       wefti_os_signal_frame_bytes() + RED_ZONE;
}

/* Returns 1 if it is one. */
static int tell_if_overflow(const siginfo_t *info, uintptr_t sp)
{
	const struct wefti_thread *self = wefti_self();
	struct wefti_stack stack;

	if (wefti_stack_of(info->si_addr, &stack) == WEFTI_STACK_GUARD ||
	    had_no_room(info, sp, &stack))
		tell(self, &stack);
	else if (is_overflow_of_first(self, info->si_code,
				      (uintptr_t)info->si_addr, sp))
		tell_first(self);
	else
		return 0;
	return 1;
}

/*
 * Does what the kernel would have done without us. A signal that was sent, or forced
 * for lack of room, does not come again when the default is restored. A fault comes
 * again if it is ignored: then the kernel kills.
 */
static void forward(int signal, siginfo_t *info, void *context, int is_sent,
		    const struct sigaction *before)
{
	if (is_sent && before->sa_handler == SIG_DFL)
		wefti_os_raise_default(signal);
	if (!is_sent && before->sa_handler == SIG_IGN)
		wefti_os_signal_restore(signal, before);
	else
		wefti_os_signal_forward(signal, info, context, before);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	uintptr_t sp = wefti_arch_ucontext_sp(context);
	int is_sent = info->si_code <= 0;	/* sent by kill(), not by the kernel */
	const struct sigaction *before = before_of(signal);
	struct wefti_stack stack;

	const int ends = before->sa_handler == SIG_DFL ||
			 (before->sa_handler == SIG_IGN && !is_sent);

	if ((is_sent || !tell_if_overflow(info, sp)) && ends)
		wefti_crash_tell(info, context);
	if (ends)
		wefti_last_words(info, context);
	forward(signal, info, context,
		is_sent || had_no_room(info, sp, &stack), before);
}

static int is_wanted(const struct fault *f)
{
	struct sigaction now;

	return !f->is_for_crashes ||
	       ((wefti_crash_is_told() || wefti_last_is_wanted()) &&
		wefti_os_signal_action(f->signal, &now) &&
		now.sa_handler == SIG_DFL);
}

void wefti_overflow_start(void)
{
	for (size_t i = 0; i < FAULTS; i++) {
		struct fault *f = &faults[i];

		f->is_taken = is_wanted(f);
		if (f->is_taken)
			wefti_os_signal_install(f->signal, on_fault, SA_ONSTACK,
						&f->before);
	}
}

void wefti_overflow_hides(int signal, struct sigaction *now)
{
	const struct sigaction *before = before_of(signal);

	if (before && now->sa_sigaction == on_fault)
		*now = *before;
}

int wefti_overflow_takes(int signal, const struct sigaction *programs)
{
	struct sigaction *before = before_of(signal);

	if (!before || programs->sa_handler != SIG_DFL)
		return 0;
	*before = *programs;
	wefti_os_signal_install(signal, on_fault, SA_ONSTACK, NULL);
	return 1;
}

void wefti_overflow_stop(void)
{
	for (size_t i = 0; i < FAULTS; i++)
		if (faults[i].is_taken)
			wefti_os_signal_remove(faults[i].signal, on_fault,
					       &faults[i].before);
}
