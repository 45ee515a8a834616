/* SPDX-License-Identifier: MIT */
/*
 * pthread/given.c - threads on stacks that the program gives
 *
 * The thread has a small stack of ours too, which holds its control block and
 * what comes before and after its function. Dumps, overflows and preemption are
 * told of the other one while the function runs there.
 */
#include "pthread/given.h"

#include <stdint.h>
#include <ucontext.h>

#include "thread/bare.h"
#include "thread/thread.h"
#include "sched/seat.h"

struct visit {
	void *(*fn)(void *arg);
	void *arg, *result;
	ucontext_t back;
};

/* One that was not set lies at the end of the address space. */
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

/* makecontext() passes numbers. */
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
