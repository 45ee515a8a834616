/* SPDX-License-Identifier: MIT */
/* explore/sem.c - semaphores: taken by sem_trywait(), and the wait is ours */
#include "explore.h"

#include <errno.h>

#include "real.h"

static struct wefti_ex_object *point(const sem_t *s, enum wefti_ex_op op,
				     const void *where)
{
	return wefti_ex_object_point(s, WEFTI_EX_SEM, op, where);
}

static int wait_for(sem_t *s, int64_t deadline, const void *where)
{
	struct wefti_ex_thread *self = wefti_ex_self;
	const int kept = errno;
	int is_late = 0;

	(void)point(s, WEFTI_EX_TAKE, where);
	for (;;) {
		wefti_ex_cancel_point(self);
		if (REAL(sem_trywait)(s) == 0)
			break;
		if (errno != EAGAIN)
			return -1;
		if (is_late) {
			errno = ETIMEDOUT;
			return -1;
		}
		self->is_interrupted = 0;
		is_late = wefti_ex_block(self, s, deadline);
		if (self->is_interrupted & WEFTI_EX_NO_RESTART) {
			errno = EINTR;
			return -1;
		}
		(void)wefti_ex_object(s, WEFTI_EX_SEM, where);
	}
	wefti_ex_take(self, s);
	errno = kept;
	return 0;
}

EXPORT int sem_init(sem_t *s, int shared, unsigned value)
{
	if (wefti_ex_controlled())
		wefti_ex_object_begins(s, WEFTI_EX_SEM);
	return REAL(sem_init)(s, shared, value);
}

EXPORT int sem_destroy(sem_t *s)
{
	struct wefti_ex_object *o;
	int error;

	if (!wefti_ex_controlled())
		return REAL(sem_destroy)(s);
	o = point(s, WEFTI_EX_DESTROY, CALLER);
	error = REAL(sem_destroy)(s);
	if (!error)
		wefti_ex_object_ends(o, s);
	return error;
}

EXPORT int sem_wait(sem_t *s)
{
	return wefti_ex_controlled() ? wait_for(s, WEFTI_EX_NEVER, CALLER) : REAL(sem_wait)(s);
}

static int wait_until(sem_t *s, clockid_t clock, const struct timespec *time,
		      const void *where)
{
	int64_t deadline;
	const int error = wefti_ex_deadline(clock, time, &deadline);

	if (!error)
		return wait_for(s, deadline, where);
	errno = error;
	return -1;
}

EXPORT int sem_timedwait(sem_t *s, const struct timespec *time)
{
	return wefti_ex_controlled() ? wait_until(s, CLOCK_REALTIME, time, CALLER) :
				       REAL(sem_timedwait)(s, time);
}

EXPORT int sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *time)
{
	return wefti_ex_controlled() ? wait_until(s, clock, time, CALLER) :
				       REAL(sem_clockwait)(s, clock, time);
}

EXPORT int sem_trywait(sem_t *s)
{
	int error;

	if (!wefti_ex_controlled())
		return REAL(sem_trywait)(s);
	(void)point(s, WEFTI_EX_TRYTAKE, CALLER);
	error = REAL(sem_trywait)(s);
	if (!error)
		wefti_ex_take(wefti_ex_self, s);
	else
		wefti_ex_found_nothing();
	return error;
}

EXPORT int sem_getvalue(sem_t *restrict s, int *restrict value)
{
	if (wefti_ex_controlled())
		(void)point(s, WEFTI_EX_LOOK, CALLER);
	return REAL(sem_getvalue)(s, value);
}

EXPORT int sem_post(sem_t *s)
{
	int error;

	if (!wefti_ex_controlled())
		return REAL(sem_post)(s);
	(void)point(s, WEFTI_EX_POST, CALLER);
	wefti_ex_give(wefti_ex_self, s);
	error = REAL(sem_post)(s);
	wefti_ex_wake_all(s);
	return error;
}
