/* SPDX-License-Identifier: MIT */
/*
 * pthread/thread/own_stack.c - threads on stacks that the program gives, and guards of
 * its size
 *
 * The thread also has a small stack of ours. It holds the control block and the frames
 * before and after the thread's function. While the function runs on the given stack,
 * dumps, overflow reports and preemption use that stack's bounds.
 */
#include "pthread/thread/own_stack.h"

#include <errno.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/check.h"
#include "os/call/vm.h"
#include "thread/bare.h"
#include "thread/thread.h"
#include "sched/seat.h"

struct visit {
	void *(*fn)(void *arg);
	void *arg, *result;
	ucontext_t back;
};

/* A stack that was not set has an address at the end of the address space. */
void wefti_given_stack(const pthread_attr_t *attr, void **low, size_t *bytes)
{
	void *at;
	size_t size;

	if (pthread_attr_getstack(attr, &at, &size) != 0 || size == 0 ||
	    (uintptr_t)at + size == 0)
		return;
	*low = at;
	*bytes = size;
}

/*
 * For a guard larger than the runtime's: the rest of it is the low end of the stack, as
 * long as the thread runs. If the kernel has no memory for it, the guard is smaller.
 */
void wefti_given_guard(struct wefti_thread *t, struct wefti_begin *begin)
{
	struct wefti_cold *body = t->cold;
	void *low = (void *)(uintptr_t)body->stack_low;
	int error;

	error = wefti_os_vm_guard(low, begin->more_guard);
	begin->has_guard = error ? WEFTI_GUARD_NONE : WEFTI_GUARD_ADVISED;
	if (error == -ENOTSUP &&
	    wefti_os_vm_forbid(low, begin->more_guard) == 0)
		begin->has_guard = WEFTI_GUARD_FORBIDDEN;
	body->stack_low = (char *)low + begin->more_guard;
	body->stack_bytes -= begin->more_guard;
}

/* Called by the thread before it ends, because its stack will be reused. */
void wefti_given_guard_end(const struct wefti_begin *begin)
{
	struct wefti_cold *body = wefti_self()->cold;
	void *low;
	int error = 0;

	low = (char *)(uintptr_t)body->stack_low - begin->more_guard;
	if (begin->has_guard == WEFTI_GUARD_ADVISED)
		error = wefti_os_vm_unguard(low, begin->more_guard);
	else if (begin->has_guard == WEFTI_GUARD_FORBIDDEN)
		error = wefti_os_vm_allow(low, begin->more_guard);
	WEFT_CHECK(!error, "the guard of a stack at %p stays", low);
	body->stack_low = low;
	body->stack_bytes += begin->more_guard;
}

/* makecontext() passes only ints. */
static void begin_there(unsigned low, unsigned high)
{
	struct visit *v = (void *)((uintptr_t)high << 32 | low);

	v->result = v->fn(v->arg);
}

void *wefti_call_on(void *low, size_t bytes, void *(*fn)(void *arg), void *arg)
{
	struct wefti_cold *body = wefti_self()->cold;
	const void *own_low = body->stack_low;
	size_t own_bytes = body->stack_bytes;
	struct visit v = { .fn = fn, .arg = arg };
	ucontext_t there;

	getcontext(&there);
	there.uc_stack.ss_sp = low;
	there.uc_stack.ss_size = bytes;
	there.uc_link = &v.back;
	makecontext(&there, (void (*)(void))begin_there, 2,
		    (unsigned)(uintptr_t)&v, (unsigned)((uintptr_t)&v >> 32));
	body->stack_low = low;
	body->stack_bytes = bytes;
	swapcontext(&v.back, &there);
	body->stack_low = own_low;
	body->stack_bytes = own_bytes;
	return v.result;
}
