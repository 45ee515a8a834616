/* SPDX-License-Identifier: MIT */
/*
 * explore/cond.c - condition variables: their waiting threads are this library's alone
 *
 * Which of them a signal wakes is a choice. A wait ends without one if spurious.c says so.
 */
#include "explore.h"

#include "real.h"

#include <errno.h>

#define MONOTONIC	2u	/* of glibc's layout: a clock that the attributes named */
#define SHARED		1u

static int is_ours(const pthread_cond_t *c)
{
	return wefti_ex_controlled() && !(c->__data.__wrefs & SHARED);
}

static struct wefti_ex_object *point(const pthread_cond_t *c, enum wefti_ex_op op,
				     const void *where)
{
	return wefti_ex_object_point(c, WEFTI_EX_COND, op, where);
}

int wefti_ex_cond_wait(pthread_cond_t *c, pthread_mutex_t *m, int64_t deadline,
		       const void *where)
{
	struct wefti_ex_thread *self = wefti_ex_self;
	int error, is_late, is_signalled;

	(void)point(c, WEFTI_EX_WAIT, where);
	wefti_ex_cancel_point(self);
	error = wefti_ex_release(m, "it waits with a mutex that it does not hold", where);
	if (error)
		return error;
	wefti_ex_past(self, WEFTI_EX_UNLOCK, wefti_ex_object(m, WEFTI_EX_MUTEX, where));
	is_late = wefti_ex_block(self, c, deadline);
	is_signalled = self->is_signalled;	/* a wait for the mutex clears it */
	if (is_signalled)
		wefti_ex_take(self, c);
	error = wefti_ex_lock(m, WEFTI_EX_NEVER, WEFTI_EX_RELOCK, where);
	if (!is_signalled)	/* else a signal would be lost */
		wefti_ex_cancel_point(self);
	return error ? error : is_late ? ETIMEDOUT : 0;
}

EXPORT int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
	if (wefti_ex_controlled())
		wefti_ex_object_begins(c, WEFTI_EX_COND);
	return REAL(pthread_cond_init)(c, attr);
}

int wefti_ex_cond_destroy(pthread_cond_t *c, const void *where)
{
	struct wefti_ex_object *o;
	int error;

	if (!is_ours(c))
		return REAL(pthread_cond_destroy)(c);
	o = point(c, WEFTI_EX_DESTROY, where);
	for (const struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		if (t->state == WEFTI_EX_BLOCKED && t->waits_at == c)
			wefti_ex_misuse(where, o, "it destroys what a thread waits for");
	error = REAL(pthread_cond_destroy)(c);
	if (!error)
		wefti_ex_object_ends(o, c);
	return error;
}

EXPORT int pthread_cond_destroy(pthread_cond_t *c)
{
	return wefti_ex_cond_destroy(c, CALLER);
}

EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	return is_ours(c) ? wefti_ex_cond_wait(c, m, WEFTI_EX_NEVER, CALLER) :
			    REAL(pthread_cond_wait)(c, m);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
				  const struct timespec *time)
{
	int64_t deadline;
	int error;

	if (!is_ours(c))
		return REAL(pthread_cond_clockwait)(c, m, clock, time);
	error = wefti_ex_deadline(clock, time, &deadline);
	return error ? error : wefti_ex_cond_wait(c, m, deadline, CALLER);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
				  const struct timespec *time)
{
	int64_t deadline;
	int error;

	if (!is_ours(c))
		return REAL(pthread_cond_timedwait)(c, m, time);
	error = wefti_ex_deadline(c->__data.__wrefs & MONOTONIC ? CLOCK_MONOTONIC :
				  CLOCK_REALTIME, time, &deadline);
	return error ? error : wefti_ex_cond_wait(c, m, deadline, CALLER);
}

int wefti_ex_cond_signal(pthread_cond_t *c, const void *where)
{
	if (!is_ours(c))
		return REAL(pthread_cond_signal)(c);
	(void)point(c, WEFTI_EX_SIGNAL, where);
	wefti_ex_give(wefti_ex_self, c);
	wefti_ex_wake_one(c);
	return 0;
}

EXPORT int pthread_cond_signal(pthread_cond_t *c)
{
	return wefti_ex_cond_signal(c, CALLER);
}

int wefti_ex_cond_broadcast(pthread_cond_t *c, const void *where)
{
	if (!is_ours(c))
		return REAL(pthread_cond_broadcast)(c);
	(void)point(c, WEFTI_EX_BROADCAST, where);
	wefti_ex_give(wefti_ex_self, c);
	wefti_ex_wake_all(c);
	return 0;
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *c)
{
	return wefti_ex_cond_broadcast(c, CALLER);
}
