/* SPDX-License-Identifier: MIT */
/*
 * observe/overflow.c - a stack overflow is named before the signal kills
 *
 * On the alternate stack of the kernel thread. A fault that is no overflow goes
 * to the handler that the program had when the runtime started, or to the
 * default; so does an overflow, after its one line.
 */
#include "observe/overflow.h"

#include "base/format.h"
#include "cpu.h"
#include "mem/stack.h"
#include "os/signal.h"
#include "thread/bare.h"

#define STDERR	2

static struct sigaction segv_before, bus_before;

static void tell(const struct wefti_stack *stack)
{
	const struct wefti_thread *self = wefti_self();
	const struct wefti_cold *body = self ? self->cold : NULL;
	size_t kb = ((size_t)1 << (WEFTI_STACK_SHIFT + stack->class)) / 1024;

	if (!body || body->stack.top != stack->top) {
		wefti_print(STDERR, "weft: fault in the guard of a thread's "
			    "stack of %zu KiB, not by that thread\n", kb);
		return;
	}
	wefti_print(STDERR, "weft: stack overflow in thread \"%s\" (id %lu): "
		    "its stack of %zu KiB is full; raise "
		    "weft_attr.stack_bytes or WEFT_STACK\n",
		    body->name, wefti_thread_id(self), kb);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	struct wefti_stack stack;

	if (info->si_code > 0 &&	/* by the kernel, not by kill() */
	    wefti_stack_of(info->si_addr, &stack) == WEFTI_STACK_GUARD)
		tell(&stack);
	wefti_os_signal_forward(signal, info, context, signal == SIGSEGV ?
				&segv_before : &bus_before);
}

void wefti_overflow_start(void)
{
	wefti_os_signal_install(SIGSEGV, on_fault, 1, &segv_before);
	wefti_os_signal_install(SIGBUS, on_fault, 1, &bus_before);
}

void wefti_overflow_stop(void)
{
	wefti_os_signal_remove(SIGSEGV, on_fault, &segv_before);
	wefti_os_signal_remove(SIGBUS, on_fault, &bus_before);
}
