/* SPDX-License-Identifier: MIT */
/*
 * pthread/thread/attr.c - the reported attributes of a thread, and the default ones
 *
 * libc keeps the default attributes under a lock, and copies them for each caller. Nearly
 * no program changes them. So they are asked for once, and kept until the program changes
 * them. From then on libc is asked each time.
 *
 * Writers
 *   changed  pthread_setattr_default_np
 *   default_guard  ask
 *   default_stack  ask, wefti_defaults_forget
 */
#include "pthread/thread/attr.h"

#include "os/tls/tls.h"
#include "pthread/core/real.h"
#include "pthread/kthread/schedule.h"
#include "pthread/core/self.h"
#include "thread/bare.h"

static int is_main(const struct wefti_thread *t)
{
	return t == wefti_rt.main;
}

/* As libc reports it, with the CPUs that the thread may use. */
static int tell_schedule(const struct wefti_thread *t, pthread_attr_t *attr)
{
	const struct wefti_schedule s = wefti_schedule_of(wefti_pt_of(t));
	struct sched_param param = { .sched_priority = s.priority };
	cpu_set_t set;
	long n;

	(void)!pthread_attr_setinheritsched(attr, s.is_own ?
					    PTHREAD_EXPLICIT_SCHED :
					    PTHREAD_INHERIT_SCHED);
	(void)!pthread_attr_setschedpolicy(attr, s.policy);
	(void)!pthread_attr_setschedparam(attr, &param);
	CPU_ZERO(&set);
	n = wefti_affinity_get(t, sizeof(set), &set);
	return n < 0 ? (int)-n : pthread_attr_setaffinity_np(attr, (size_t)n,
							     &set);
}

/* The stack that was asked for, and where it is: see read_stack() in create.c. */
static int tell_stack(const struct wefti_thread *t, pthread_attr_t *attr)
{
	const struct wefti_begin *b = &wefti_pt_of(t)->begin;
	char *low = (char *)(uintptr_t)t->cold->stack_low;

	(void)!pthread_attr_setguardsize(attr, b->guard_bytes);
	if (b->stack)
		return pthread_attr_setstack(attr, b->stack, b->stack_bytes);
	low += b->room - b->told_bytes;
	return pthread_attr_setstack(attr, low, b->told_bytes);
}

EXPORT int pthread_getattr_np(pthread_t thread, pthread_attr_t *attr)
{
	struct wefti_thread *t = wefti_pt_thread(thread);
	uint64_t w;
	int error;

	if (!t || is_main(t))
		return REAL(pthread_getattr_np)(thread, attr);
	error = pthread_attr_init(attr);
	if (error)
		return error;
	w = load_relaxed(&t->join);
	if (!wefti_join_is_ticket(w) &&
	    wefti_join_state(w) == WEFTI_JOIN_DETACHED)
		pthread_attr_setdetachstate(attr, PTHREAD_CREATE_DETACHED);
	error = tell_schedule(t, attr);
	return error ? error : tell_stack(t, attr);
}

/* --- the default ones ----------------------------------------------- */

static _Atomic int changed;	/* set before they are: what was asked before is right */
static _Atomic size_t default_stack, default_guard;	/* the stack is set last; 0: ask */

static COLD int ask(size_t *stack, size_t *guard)
{
	pthread_attr_t attr;

	if (pthread_getattr_default_np(&attr) != 0)
		return 0;
	(void)!pthread_attr_getstacksize(&attr, stack);
	(void)!pthread_attr_getguardsize(&attr, guard);
	pthread_attr_destroy(&attr);
	if (wefti_settings_is_given("WEFT_STACK"))
		*stack = (size_t)wefti_rt.settings.stack;
	if (load_seq_cst(&changed))
		return 0;
	store_seq_cst(&default_guard, *guard);
	store_seq_cst(&default_stack, *stack);
	return 1;
}

int wefti_defaults_are_first(size_t *stack, size_t *guard)
{
	if (unlikely(load_seq_cst(&changed)))
		return 0;
	*stack = load_seq_cst(&default_stack);
	if (unlikely(!*stack))
		return ask(stack, guard);
	*guard = load_seq_cst(&default_guard);
	return 1;
}

void wefti_defaults_forget(void)
{
	store_seq_cst(&default_stack, (size_t)0);
}

EXPORT int pthread_setattr_default_np(const pthread_attr_t *attr)
{
	store_seq_cst(&changed, 1);
	return REAL(pthread_setattr_default_np)(attr);
}
