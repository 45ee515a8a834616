/* SPDX-License-Identifier: MIT */
/* explore/barrier.c - barriers: counted here */
#include "explore.h"

#include "real.h"

EXPORT int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr,
				unsigned count)
{
	const int error = REAL(pthread_barrier_init)(b, attr, count);
	int shared = PTHREAD_PROCESS_PRIVATE;

	if (error || !wefti_ex_controlled())
		return error;
	if (attr)
		(void)pthread_barrierattr_getpshared(attr, &shared);
	wefti_ex_object_begins(b, WEFTI_EX_BARRIER);
	if (shared == PTHREAD_PROCESS_PRIVATE)
		wefti_ex_object(b, WEFTI_EX_BARRIER, CALLER)->count = count;
	return 0;
}

/*
 * The acts of all threads before the barrier happen before those of each behind it. A thread that a signal has
 * woken is not BLOCKED, but it waits all the same.
 */
static void pass(struct wefti_ex_thread *self, const pthread_barrier_t *b)
{
	wefti_ex_take(self, b);
	for (struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		if (t->meets_at == b) {
			wefti_ex_take(t, b);
			t->meets_at = NULL;
		}
	wefti_ex_forget_key(b);
	wefti_ex_wake_all(b);
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *b)
{
	struct wefti_ex_thread *self = wefti_ex_controlled();
	struct wefti_ex_object *o;

	if (!self)
		return REAL(pthread_barrier_wait)(b);
	o = wefti_ex_object_point(b, WEFTI_EX_BARRIER, WEFTI_EX_MEET, CALLER);
	if (!o->count)
		return REAL(pthread_barrier_wait)(b);
	wefti_ex_give(self, b);
	if (++o->arrived == o->count) {
		o->arrived = 0;
		pass(self, b);
		return PTHREAD_BARRIER_SERIAL_THREAD;
	}
	/* The last thread may destroy the barrier before the others have left it. */
	self->meets_at = b;
	while (self->meets_at)
		(void)wefti_ex_block(self, b, WEFTI_EX_NEVER);
	return 0;
}

EXPORT int pthread_barrier_destroy(pthread_barrier_t *b)
{
	struct wefti_ex_object *o;
	int error;

	if (!wefti_ex_controlled())
		return REAL(pthread_barrier_destroy)(b);
	o = wefti_ex_object_point(b, WEFTI_EX_BARRIER, WEFTI_EX_DESTROY, CALLER);
	if (o->arrived)
		wefti_ex_misuse(CALLER, o, "it destroys what threads wait at");
	error = REAL(pthread_barrier_destroy)(b);
	if (!error)
		wefti_ex_object_ends(o, b);
	return error;
}
