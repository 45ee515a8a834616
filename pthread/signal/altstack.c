/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/altstack.c - sigaltstack(): each green thread has its own
 *
 * This library runs a handler on the thread's alternate stack if the handler asks for
 * that. A fault is handled at once and where it happened, so the kernel delivers it. The
 * kernel knows one alternate stack for each kernel thread: the runtime's. That is also
 * true of the first kernel thread. Its alternate stack was the program's before the
 * program made threads.
 *
 * Whether a thread is on its alternate stack follows from the stack pointer, as in the
 * kernel, because a handler may leave by siglongjmp(). So the thread's bounds stay those
 * of its own stack too, and the thread is not preempted while it is on the alternate
 * stack. A thread may also run on a third stack, which weft does not know. Then it is
 * preempted on its alternate stack. A program that uses such stacks (a virtual machine
 * for Erlang, say) has an alternate stack for that purpose.
 */
#include <errno.h>
#include <stddef.h>

#include "context.h"
#include "os/signal/signal.h"
#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"
#include "pthread/signal/altstack.h"
#include "signal_frame.h"

static const stack_t none = { .ss_flags = SS_DISABLE };

static int is_on(const struct wefti_altstack *s)
{
	return wefti_os_is_on_stack((uintptr_t)__builtin_frame_address(0),
				    (uintptr_t)s->low, s->bytes);
}

stack_t wefti_altstack_tell(void)
{
	const struct wefti_altstack *s = &wefti_pt.altstack;

	if (!s->bytes)
		return none;
	return (stack_t){ .ss_sp = s->low, .ss_size = s->bytes,
			  .ss_flags = is_on(s) ? SS_ONSTACK : 0 };
}

/*
 * The least size is the kernel's. libc's MINSIGSTKSZ is larger where a CPU has large
 * registers, and programs are still built with the 8192 bytes of old.
 */
static int set(struct wefti_altstack *s, const stack_t *to)
{
	if (is_on(s))
		return EPERM;
	if (to->ss_flags != 0 && to->ss_flags != SS_DISABLE &&
	    to->ss_flags != SS_ONSTACK)
		return EINVAL;		/* also for SS_AUTODISARM */
	if (to->ss_flags == SS_DISABLE)
		*s = (struct wefti_altstack){ NULL, 0 };
	else if (to->ss_size < WEFTI_ARCH_ALTSTACK_LEAST)
		return ENOMEM;
	else
		*s = (struct wefti_altstack){ to->ss_sp, to->ss_size };
	return 0;
}

EXPORT int sigaltstack(const stack_t *to, stack_t *before)
{
	stack_t old;
	int error;

	if (!wefti_pt_green() || !wefti_pt_is_started())
		return REAL(sigaltstack)(to, before);
	old = wefti_altstack_tell();
	error = to ? set(&wefti_pt.altstack, to) : 0;
	if (!error && before)
		*before = old;
	return wefti_answer(error);
}

/* A cancellation in fn() unwinds the caller's frames too. */
void wefti_altstack_call(void (*fn)(void *arg), void *arg)
{
	const struct wefti_altstack *s = &wefti_pt.altstack;

	if (!s->bytes || is_on(s))
		fn(arg);
	else
		wefti_arch_call_on(s->low + s->bytes, fn, arg);
}

struct wefti_preempt_room wefti_altstack_room(void)
{
	const struct wefti_altstack *s = &wefti_pt.altstack;

	return (struct wefti_preempt_room){ (uintptr_t)s->low, s->bytes };
}

void wefti_altstack_begin(void)
{
	stack_t old;

	wefti_pt.altstack = (struct wefti_altstack){ NULL, 0 };
	if (REAL(sigaltstack)(NULL, &old) != 0 || (old.ss_flags & SS_DISABLE))
		return;
	/* A caller that runs on it keeps it until the kernel thread ends. */
	if (REAL(sigaltstack)(&none, NULL) == 0)
		wefti_pt.altstack = (struct wefti_altstack){ old.ss_sp,
							     old.ss_size };
}

void wefti_altstack_end(void)
{
	const stack_t own = wefti_altstack_tell();

	/* Fails in the child of a fork() that the handler of a fault made. */
	(void)!REAL(sigaltstack)(&own, NULL);
}
