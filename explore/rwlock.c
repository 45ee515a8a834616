/* SPDX-License-Identifier: MIT */
/* explore/rwlock.c - rwlocks: taken by a try, and the wait is ours */
#include "explore.h"

#include <errno.h>

#include "real.h"

static int is_ours(const pthread_rwlock_t *l)
{
	return wefti_ex_controlled() && !l->__data.__shared;
}

static struct wefti_ex_object *point(const pthread_rwlock_t *l, enum wefti_ex_op op,
				     const void *where)
{
	return wefti_ex_object_point(l, WEFTI_EX_RWLOCK, op, where);
}

/* Readers give to a key of their own, which writers alone take. */
static const volatile void *readers(const pthread_rwlock_t *l)
{
	return (const char *)l + 1;
}

static void note_order(const pthread_rwlock_t *l, int writes)
{
	wefti_ex_take(wefti_ex_self, l);
	if (writes)
		wefti_ex_take(wefti_ex_self, readers(l));
}

/* Processes share it, and so may threads of this one. */
static int locked_shared(const pthread_rwlock_t *l, int writes, int error)
{
	if (error == 0 && wefti_ex_controlled())
		note_order(l, writes);
	return error;
}

/* Whether it was locked for writing is not known. */
static int unlock_shared(pthread_rwlock_t *l)
{
	if (wefti_ex_controlled()) {
		wefti_ex_give(wefti_ex_self, l);
		wefti_ex_give(wefti_ex_self, readers(l));
	}
	return REAL(pthread_rwlock_unlock)(l);
}

static int try(pthread_rwlock_t *l, int writes, const void *where)
{
	const int error = writes ? REAL(pthread_rwlock_trywrlock)(l) :
				   REAL(pthread_rwlock_tryrdlock)(l);
	struct wefti_ex_object *o = wefti_ex_object(l, WEFTI_EX_RWLOCK, where);

	if (error == 0)
		note_order(l, writes);
	if (error == 0)
		o->was_held = 1;
	if (error == 0 && writes)
		o->holder = wefti_ex_self->number;
	else if (error == 0)
		o->readers++;
	return error;
}

static int lock(pthread_rwlock_t *l, int writes, int64_t deadline, const void *where)
{
	struct wefti_ex_thread *self = wefti_ex_self;
	struct wefti_ex_object *o = point(l, writes ? WEFTI_EX_WRITE : WEFTI_EX_READ, where);
	int error, is_late = 0;

	if (o->holder == self->number)
		return EDEADLK;
	while ((error = try(l, writes, where)) == EBUSY) {
		if (is_late)
			return ETIMEDOUT;
		is_late = wefti_ex_block(self, l, deadline);
	}
	return error;
}

static int lock_until(pthread_rwlock_t *l, int writes, clockid_t clock,
		      const struct timespec *time, const void *where)
{
	int64_t deadline;
	const int error = wefti_ex_deadline(clock, time, &deadline);

	return error ? error : lock(l, writes, deadline, where);
}

EXPORT int pthread_rwlock_init(pthread_rwlock_t *l, const pthread_rwlockattr_t *attr)
{
	if (wefti_ex_controlled())
		wefti_ex_object_begins(l, WEFTI_EX_RWLOCK);
	return REAL(pthread_rwlock_init)(l, attr);
}

EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *l)
{
	struct wefti_ex_object *o;
	int error;

	if (!is_ours(l))
		return REAL(pthread_rwlock_destroy)(l);
	o = point(l, WEFTI_EX_DESTROY, CALLER);
	if (o->holder || o->readers)
		wefti_ex_misuse(CALLER, o, "it destroys what a thread holds");
	error = REAL(pthread_rwlock_destroy)(l);
	if (!error)
		wefti_ex_object_ends(o, l);
	return error;
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	return is_ours(l) ? lock(l, 0, WEFTI_EX_NEVER, CALLER) :
			    locked_shared(l, 0, REAL(pthread_rwlock_rdlock)(l));
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	return is_ours(l) ? lock(l, 1, WEFTI_EX_NEVER, CALLER) :
			    locked_shared(l, 1, REAL(pthread_rwlock_wrlock)(l));
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *time)
{
	return is_ours(l) ? lock_until(l, 0, CLOCK_REALTIME, time, CALLER) :
			    locked_shared(l, 0, REAL(pthread_rwlock_timedrdlock)(l, time));
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *time)
{
	return is_ours(l) ? lock_until(l, 1, CLOCK_REALTIME, time, CALLER) :
			    locked_shared(l, 1, REAL(pthread_rwlock_timedwrlock)(l, time));
}

EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *time)
{
	return is_ours(l) ? lock_until(l, 0, clock, time, CALLER) :
			    locked_shared(l, 0, REAL(pthread_rwlock_clockrdlock)(l, clock, time));
}

EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *time)
{
	return is_ours(l) ? lock_until(l, 1, clock, time, CALLER) :
			    locked_shared(l, 1, REAL(pthread_rwlock_clockwrlock)(l, clock, time));
}

static int tried(int error)
{
	if (error == EBUSY)
		wefti_ex_found_nothing();
	return error;
}

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	if (!is_ours(l))
		return locked_shared(l, 0, REAL(pthread_rwlock_tryrdlock)(l));
	(void)point(l, WEFTI_EX_TRYREAD, CALLER);
	return tried(try(l, 0, CALLER));
}

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	if (!is_ours(l))
		return locked_shared(l, 1, REAL(pthread_rwlock_trywrlock)(l));
	(void)point(l, WEFTI_EX_TRYWRITE, CALLER);
	return tried(try(l, 1, CALLER));
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	struct wefti_ex_object *o;

	if (!is_ours(l))
		return unlock_shared(l);
	o = point(l, WEFTI_EX_UNLOCK, CALLER);
	if (o->was_held &&
	    (o->holder ? o->holder != wefti_ex_self->number : !o->readers))
		wefti_ex_misuse(CALLER, o, o->holder ?
				"it unlocks what another thread holds" :
				"it unlocks what no thread holds");
	wefti_ex_give(wefti_ex_self, o->holder ? l : readers(l));
	if (o->holder)
		o->holder = 0;
	else if (o->readers)
		o->readers--;
	wefti_ex_wake_all(l);
	return REAL(pthread_rwlock_unlock)(l);
}
