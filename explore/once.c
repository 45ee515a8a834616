/* SPDX-License-Identifier: MIT */
/* explore/once.c - pthread_once(), and variables of C++'s functions: threads wait here */
#include "explore.h"

#include "real.h"

/* The function may end by an exception, or by a cancellation. */
static void has_run(const void **at)
{
	struct wefti_ex_object *o;

	if (!*at)
		return;
	o = wefti_ex_object(*at, WEFTI_EX_FLAG, NULL);
	o->holder = 0;
	wefti_ex_give(wefti_ex_self, *at);
	wefti_ex_wake_all(*at);
}

/* Waits while another thread runs the function. Its own nested call waits for ever. */
static void begin(const void *once, const void *where)
{
	struct wefti_ex_thread *self = wefti_ex_self;
	struct wefti_ex_object *o = wefti_ex_object_point(once, WEFTI_EX_FLAG, WEFTI_EX_ONCE,
							  where);

	while (o->holder) {
		(void)wefti_ex_block(self, once, WEFTI_EX_NEVER);
		o = wefti_ex_object(once, WEFTI_EX_FLAG, where);
	}
	wefti_ex_take(self, once);
	o->holder = self->number;
}

EXPORT int pthread_once(pthread_once_t *once, void (*fn)(void))
{
	__attribute__((cleanup(has_run))) const void *at = NULL;

	if (wefti_ex_controlled()) {
		begin(once, CALLER);
		at = once;
	}
	return REAL(pthread_once)(once, fn);
}

EXPORT void call_once(once_flag *once, void (*fn)(void))
{
	__attribute__((cleanup(has_run))) const void *at = NULL;

	if (wefti_ex_controlled()) {
		begin(once, CALLER);
		at = once;
	}
	REAL(call_once)(once, fn);
}

/* Compiled code reads the guard by itself, too: an atomic that it acquires (memory.c). */
EXPORT int __cxa_guard_acquire(void *guard)
{
	int is_first;

	if (!wefti_ex_controlled())
		return REAL(__cxa_guard_acquire)(guard);
	begin(guard, CALLER);
	is_first = REAL(__cxa_guard_acquire)(guard);
	if (!is_first) {
		const void *at = guard;

		has_run(&at);
	}
	return is_first;
}

EXPORT void __cxa_guard_release(void *guard)
{
	const void *at = guard;

	REAL(__cxa_guard_release)(guard);
	if (wefti_ex_controlled())
		has_run(&at);
}

EXPORT void __cxa_guard_abort(void *guard)
{
	const void *at = guard;

	REAL(__cxa_guard_abort)(guard);
	if (wefti_ex_controlled())
		has_run(&at);
}
