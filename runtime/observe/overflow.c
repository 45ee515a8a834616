/* SPDX-License-Identifier: MIT */
/*
 * observe/overflow.c - reports a stack overflow before the signal kills the process
 *
 * Runs on the alternate stack of the kernel thread. A fault that is no overflow goes to
 * the handler that the program had when the runtime started, or to the default. So does
 * an overflow, after one line is printed. A signal with no room for its frame on a
 * stack counts as one: the kernel then sends SIGSEGV, without an address.
 */
#include "observe/overflow.h"

#include "base/format.h"
#include "context.h"
#include "cpu.h"
#include "mem/stack.h"
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

static struct sigaction segv_before, bus_before;

/* The calling thread's name. */
static const char *name_of(const struct wefti_thread *self,
			   char bytes[WEFTI_NAME_BYTES])
{
	return wefti_name_get(wefti_thread_id(self), bytes) ? bytes :
							      self->cold->name;
}

static void tell(const struct wefti_thread *self,
		 const struct wefti_stack *stack)
{
	const struct wefti_cold *body = self ? self->cold : NULL;
	char name[WEFTI_NAME_BYTES];
	size_t kb = ((size_t)1 << (WEFTI_STACK_SHIFT + stack->class)) / 1024;

	if (!body || body->stack.top != stack->top) {
		wefti_print(STDERR, "weft: fault in the guard of a thread's "
			    "stack of %zu KiB, not by that thread\n", kb);
		return;
	}
	wefti_print(STDERR, "weft: stack overflow in thread \"%s\" (id %lu): "
		    "its stack of %zu KiB is full; raise "
		    "weft_attr.stack_bytes or WEFT_STACK\n",
		    name_of(self, name), wefti_thread_id(self), kb);
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
	char bytes[WEFTI_NAME_BYTES];
	const char *name = name_of(self, bytes);
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

static void tell_if_overflow(const siginfo_t *info, uintptr_t sp)
{
	const struct wefti_thread *self = wefti_self();
	struct wefti_stack stack;

	if (wefti_stack_of(info->si_addr, &stack) == WEFTI_STACK_GUARD ||
	    had_no_room(info, sp, &stack))
		tell(self, &stack);
	else if (is_overflow_of_first(self, info->si_code,
				      (uintptr_t)info->si_addr, sp))
		tell_first(self);
}

/*
 * Does what the kernel would have done without us. A signal that was sent, or forced
 * for lack of room, does not come again when the default is restored. A fault comes
 * again if it is ignored: then the kernel kills.
 */
static void forward(int signal, siginfo_t *info, void *context, int is_sent)
{
	const struct sigaction *before = signal == SIGSEGV ? &segv_before :
							     &bus_before;

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
	struct wefti_stack stack;

	if (!is_sent)
		tell_if_overflow(info, sp);
	forward(signal, info, context,
		is_sent || had_no_room(info, sp, &stack));
}

void wefti_overflow_start(void)
{
	wefti_os_signal_install(SIGSEGV, on_fault, SA_ONSTACK, &segv_before);
	wefti_os_signal_install(SIGBUS, on_fault, SA_ONSTACK, &bus_before);
}

static struct sigaction *before_of(int signal)
{
	return signal == SIGSEGV ? &segv_before :
	       signal == SIGBUS ? &bus_before : NULL;
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
	wefti_os_signal_remove(SIGSEGV, on_fault, &segv_before);
	wefti_os_signal_remove(SIGBUS, on_fault, &bus_before);
}
