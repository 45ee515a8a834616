/* SPDX-License-Identifier: MIT */
/* explore/once.c - pthread_once(): the threads that wait for the one that runs wait here */
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
