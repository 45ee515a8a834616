/* SPDX-License-Identifier: MIT */
/*
 * explore/mutex.c - mutexes: the lock is taken by trylock, and the wait is ours
 *
 * So each type of mutex keeps the next library's meaning. A mutex that processes share is
 * left to that library: another process may unlock it.
 */
#include "explore.h"

#include <errno.h>

#include "real.h"

#define KIND_MASK	3	/* of glibc's layout, as weft's preload library reads it */
#define ROBUST		16
#define SHARED		128

/* glibc says of each robust mutex that it is shared. */
static int is_shared(const pthread_mutex_t *m)
{
	return (m->__data.__kind & SHARED) && !(m->__data.__kind & ROBUST);
}

/* Unlocking such a mutex wrongly is an error, and no undefined behaviour. */
static int is_checked(const pthread_mutex_t *m)
{
	const int kind = m->__data.__kind & KIND_MASK;

	return kind == PTHREAD_MUTEX_RECURSIVE_NP || kind == PTHREAD_MUTEX_ERRORCHECK_NP ||
	       (m->__data.__kind & ROBUST);
}

static int is_locked_by(int error)
{
	return error == 0 || error == EOWNERDEAD;
}

/* The acts of a thread that died with the mutex happen before. It gave no unlock. */
static void note_locked(struct wefti_ex_thread *self, struct wefti_ex_object *o, int error)
{
	if (!is_locked_by(error))
		return;
	if (error == EOWNERDEAD) {
		o->depth = 0;
		wefti_ex_take(self, o->locker);
	}
	o->holder = self->number;
	o->locker = self;
	o->was_held = 1;
	o->depth++;
	wefti_ex_take(self, o->at);
}

int wefti_ex_lock(pthread_mutex_t *m, int64_t deadline, enum wefti_ex_op op,
		  const void *where)
{
	struct wefti_ex_thread *self = wefti_ex_self;
	struct wefti_ex_object *o = wefti_ex_object_point(m, WEFTI_EX_MUTEX, op, where);
	int error, is_late = 0;

	for (;;) {
		error = REAL(pthread_mutex_trylock)(m);
		if (error != EBUSY)
			break;
		if (is_checked(m) && o->holder == self->number)
			return REAL(pthread_mutex_lock)(m);	/* EDEADLK */
		if (is_late)
			return ETIMEDOUT;
		is_late = wefti_ex_block(self, m, deadline);
		o = wefti_ex_object(m, WEFTI_EX_MUTEX, where);
	}
	note_locked(self, o, error);
	return error;
}

int wefti_ex_trylock(pthread_mutex_t *m, const void *where)
{
	struct wefti_ex_object *o = wefti_ex_object_point(m, WEFTI_EX_MUTEX, WEFTI_EX_TRYLOCK,
							  where);
	const int error = REAL(pthread_mutex_trylock)(m);

	if (error == EBUSY)
		wefti_ex_found_nothing();
	note_locked(wefti_ex_self, o, error);
	return error;
}

int wefti_ex_release(pthread_mutex_t *m, const char *misuse, const void *where)
{
	struct wefti_ex_object *o = wefti_ex_object(m, WEFTI_EX_MUTEX, where);
	int error;

	if (!is_checked(m) && o->was_held && o->holder != wefti_ex_self->number)
		wefti_ex_misuse(where, o, misuse ? misuse : o->holder ?
				"it unlocks what another thread holds" :
				"it unlocks what no thread holds");
	error = REAL(pthread_mutex_unlock)(m);
	if (error == 0)
		wefti_ex_give(wefti_ex_self, m);
	if (error == 0 && o->depth && --o->depth == 0) {
		o->holder = 0;
		wefti_ex_wake_all(m);
	}
	return error;
}

int wefti_ex_unlock(pthread_mutex_t *m, const void *where)
{
	(void)wefti_ex_object_point(m, WEFTI_EX_MUTEX, WEFTI_EX_UNLOCK, where);
	return wefti_ex_release(m, NULL, where);
}

static int is_ours(const pthread_mutex_t *m)
{
	return wefti_ex_controlled() && !is_shared(m);
}

EXPORT int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
	if (wefti_ex_controlled())
		wefti_ex_object_begins(m, WEFTI_EX_MUTEX);
	return REAL(pthread_mutex_init)(m, attr);
}

int wefti_ex_mutex_destroy(pthread_mutex_t *m, const void *where)
{
	struct wefti_ex_object *o;
	int error;

	if (!wefti_ex_controlled())
		return REAL(pthread_mutex_destroy)(m);
	o = wefti_ex_object_point(m, WEFTI_EX_MUTEX, WEFTI_EX_DESTROY, where);
	if (o->holder)
		wefti_ex_misuse(where, o, "it destroys what a thread holds");
	error = REAL(pthread_mutex_destroy)(m);
	if (!error)
		wefti_ex_object_ends(o, m);
	return error;
}

EXPORT int pthread_mutex_destroy(pthread_mutex_t *m)
{
	return wefti_ex_mutex_destroy(m, CALLER);
}

/* Processes share it, and so may threads of this one: it orders them, too. */
static int locked_shared(pthread_mutex_t *m, int error)
{
	if (is_locked_by(error) && wefti_ex_controlled())
		wefti_ex_take(wefti_ex_self, m);
	return error;
}

static int unlock_shared(pthread_mutex_t *m)
{
	if (wefti_ex_controlled())
		wefti_ex_give(wefti_ex_self, m);
	return REAL(pthread_mutex_unlock)(m);
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	return is_ours(m) ? wefti_ex_lock(m, WEFTI_EX_NEVER, WEFTI_EX_LOCK, CALLER) :
			    locked_shared(m, REAL(pthread_mutex_lock)(m));
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *m)
{
	return is_ours(m) ? wefti_ex_trylock(m, CALLER) :
			    locked_shared(m, REAL(pthread_mutex_trylock)(m));
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
				   const struct timespec *time)
{
	int64_t deadline;
	int error;

	if (!is_ours(m))
		return locked_shared(m, REAL(pthread_mutex_clocklock)(m, clock, time));
	error = wefti_ex_deadline(clock, time, &deadline);
	return error ? error : wefti_ex_lock(m, deadline, WEFTI_EX_LOCK, CALLER);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *time)
{
	int64_t deadline;
	int error;

	if (!is_ours(m))
		return locked_shared(m, REAL(pthread_mutex_timedlock)(m, time));
	error = wefti_ex_deadline(CLOCK_REALTIME, time, &deadline);
	return error ? error : wefti_ex_lock(m, deadline, WEFTI_EX_LOCK, CALLER);
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	return is_ours(m) ? wefti_ex_unlock(m, CALLER) : unlock_shared(m);
}
