/* SPDX-License-Identifier: MIT */
/*
 * explore/life.c - threads begin, end, are joined and cancelled
 *
 * A thread ends for this library behind the destructors of its keys, which may lock: the
 * destructor of a key of ours asks to be called again until the last round.
 */
#include "explore.h"

#include <errno.h>
#include <limits.h>

#include "real.h"
#include "start.h"

static pthread_key_t key;

static void ends(void *thread)
{
	struct wefti_ex_thread *self = thread;

	if (++self->ends < PTHREAD_DESTRUCTOR_ITERATIONS) {
		(void)pthread_setspecific(key, self);
		return;
	}
	if (!wefti_ex_controlled())
		return;
	wefti_ex_point(self, WEFTI_EX_END, NULL, NULL);
	wefti_ex_give(self, self);
	wefti_ex_self = NULL;
	wefti_ex_leave(self);
}

void wefti_ex_begins(struct wefti_ex_thread *t)
{
	wefti_ex_self = t;
	(void)pthread_setspecific(key, t);
}

int wefti_ex_life_begin(void)
{
	return pthread_key_create(&key, ends);
}

static void *thread_main(void *arg)
{
	struct wefti_ex_thread *self = arg;

	wefti_ex_begins(self);
	wefti_ex_wait_turn(self);
	wefti_ex_forget_own();
	/* As the other places: an address behind an instruction. */
	wefti_ex_note(self, WEFTI_EX_BEGIN, NULL, (const char *)self->call.entry + 1);
	return self->call.fn(self->call.arg);
}

static unsigned alive(void)
{
	unsigned n = 0;

	for (const struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		n++;
	return n;
}

struct wefti_ex_thread *wefti_ex_thread_make(const struct wefti_ex_call *call)
{
	struct wefti_ex_thread *t = wefti_ex_memory(sizeof(*t));

	if (alive() >= WEFTI_EX_THREADS)
		wefti_ex_limit("more than 1,024 threads are alive");
	(void)REAL(sem_init)(&t->turn, 0, 0);
	t->call = *call;
	t->op = WEFTI_EX_BEGIN;
	t->deadline = WEFTI_EX_NEVER;
	return t;
}

static int is_detached(const pthread_attr_t *attr)
{
	int state = PTHREAD_CREATE_JOINABLE;

	if (attr)
		(void)pthread_attr_getdetachstate(attr, &state);
	return state == PTHREAD_CREATE_DETACHED;
}

int wefti_ex_create(pthread_t *id, const pthread_attr_t *attr,
		    const struct wefti_ex_call *call, const void *where)
{
	struct wefti_ex_thread *self = wefti_ex_self, *t;
	int error;

	wefti_ex_point(self, WEFTI_EX_CREATE, NULL, where);
	t = wefti_ex_thread_make(call);
	t->is_detached = is_detached(attr);
	error = REAL(pthread_create)(id, attr, thread_main, t);
	if (error)
		return error;
	t->id = *id;
	wefti_ex_add(t);
	wefti_ex_begins_after(t, self);
	wefti_ex_point_of(self, WEFTI_EX_CREATED, t->number, where);
	return 0;
}

EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*fn)(void *),
			  void *arg)
{
	const struct wefti_ex_call call = { fn, arg, (const void *)(uintptr_t)fn, NULL };

	return wefti_ex_controlled() ? wefti_ex_create(id, attr, &call, CALLER) :
				       REAL(pthread_create)(id, attr, fn, arg);
}

/* The newest: the number of a thread that was joined may have been given again. */
struct wefti_ex_thread *wefti_ex_find(pthread_t id)
{
	struct wefti_ex_thread *found = NULL;

	for (struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		if (pthread_equal(t->id, id))
			found = t;
	return found;
}

void wefti_ex_cancel_point(struct wefti_ex_thread *self)
{
	(void)self;
	REAL(pthread_testcancel)();
}

int wefti_ex_join(pthread_t id, void **result, int64_t deadline, const void *where)
{
	struct wefti_ex_thread *self = wefti_ex_self, *t;
	int error;

	t = wefti_ex_find(id);
	wefti_ex_point_of(self, WEFTI_EX_JOIN, t ? t->number : 0, where);
	wefti_ex_cancel_point(self);
	t = wefti_ex_find(id);
	while (t && t != self && !t->is_detached && t->state != WEFTI_EX_ENDED) {
		if (wefti_ex_block(self, t, deadline))
			return ETIMEDOUT;
		wefti_ex_cancel_point(self);
	}
	error = REAL(pthread_join)(id, result);
	if (!error && t) {
		wefti_ex_take(self, t);
		wefti_ex_remove(t);
	}
	return error;
}

EXPORT int pthread_join(pthread_t id, void **result)
{
	return wefti_ex_controlled() ? wefti_ex_join(id, result, WEFTI_EX_NEVER, CALLER) :
				       REAL(pthread_join)(id, result);
}

EXPORT int pthread_clockjoin_np(pthread_t id, void **result, clockid_t clock,
				const struct timespec *time)
{
	int64_t deadline;
	int error;

	if (!wefti_ex_controlled())
		return REAL(pthread_clockjoin_np)(id, result, clock, time);
	error = wefti_ex_deadline(clock, time, &deadline);
	return error ? error : wefti_ex_join(id, result, deadline, CALLER);
}

EXPORT int pthread_timedjoin_np(pthread_t id, void **result, const struct timespec *time)
{
	int64_t deadline;
	int error;

	if (!wefti_ex_controlled())
		return REAL(pthread_timedjoin_np)(id, result, time);
	error = wefti_ex_deadline(CLOCK_REALTIME, time, &deadline);
	return error ? error : wefti_ex_join(id, result, deadline, CALLER);
}

EXPORT int pthread_tryjoin_np(pthread_t id, void **result)
{
	struct wefti_ex_thread *t;

	if (!wefti_ex_controlled())
		return REAL(pthread_tryjoin_np)(id, result);
	t = wefti_ex_find(id);
	wefti_ex_point_of(wefti_ex_self, WEFTI_EX_JOIN, t ? t->number : 0, CALLER);
	t = wefti_ex_find(id);
	if (t && t->state != WEFTI_EX_ENDED) {
		wefti_ex_found_nothing();
		return EBUSY;
	}
	return wefti_ex_join(id, result, WEFTI_EX_NEVER, CALLER);
}

int wefti_ex_detach(pthread_t id, const void *where)
{
	struct wefti_ex_thread *t;
	int error;

	if (!wefti_ex_controlled())
		return REAL(pthread_detach)(id);
	t = wefti_ex_find(id);
	wefti_ex_point_of(wefti_ex_self, WEFTI_EX_DETACH, t ? t->number : 0, where);
	t = wefti_ex_find(id);
	error = REAL(pthread_detach)(id);
	if (error || !t)
		return error;
	t->is_detached = 1;
	if (t->state == WEFTI_EX_ENDED)
		wefti_ex_remove(t);
	return 0;
}

EXPORT int pthread_detach(pthread_t id)
{
	return wefti_ex_detach(id, CALLER);
}

/* A wait that may be cancelled ends, and its thread looks for the cancellation. */
EXPORT int pthread_cancel(pthread_t id)
{
	struct wefti_ex_thread *t;
	int error;

	if (!wefti_ex_controlled())
		return REAL(pthread_cancel)(id);
	t = wefti_ex_find(id);
	wefti_ex_point_of(wefti_ex_self, WEFTI_EX_CANCEL, t ? t->number : 0, CALLER);
	t = wefti_ex_find(id);
	error = REAL(pthread_cancel)(id);
	if (!error && t)
		wefti_ex_begins_after(t, wefti_ex_self);
	if (!error && t && t->state == WEFTI_EX_BLOCKED &&
	    (t->op == WEFTI_EX_WAIT || t->op == WEFTI_EX_TAKE || t->op == WEFTI_EX_JOIN ||
	     t->op == WEFTI_EX_SLEEP || t->fds || t->again || t->awaits))
		t->state = WEFTI_EX_READY;
	return error;
}
