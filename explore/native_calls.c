/* SPDX-License-Identifier: MIT */
/*
 * explore/native_calls.c - public calls of libweft.so as points: those that order threads, but
 * for the calls on descriptors (native_io.c)
 *
 * Most are a step, and then the runtime's own call. The holders of locks are noted for the
 * report of a deadlock alone: the runtime keeps the locks.
 */
#include <errno.h>

#include "export.h"
#include "native.h"
#include "weft.h"

static int did(struct wefti_ex_thread *self, int result)
{
	return wefti_ex_native_did(self, result);
}

/* gives: the caller's acts happen before a take by another thread behind its call. */
#define POINT1(name, op, kind, A, gives, takes)					\
	EXPORT int name(A a)							\
	{									\
		struct wefti_ex_thread *self =					\
			wefti_ex_native_point(WEFTI_EX_##op, a, WEFTI_EX_##kind, CALLER); \
										\
		gives(self, a);							\
		return takes(self, a, did(self, NEXT(name)(a)));		\
	}
#define POINT2(name, op, kind, A, gives, takes)					\
	EXPORT int name(A a, int64_t b)						\
	{									\
		struct wefti_ex_thread *self =					\
			wefti_ex_native_point(WEFTI_EX_##op, a, WEFTI_EX_##kind, CALLER); \
										\
		gives(self, a);							\
		return takes(self, a, did(self, NEXT(name)(a, b)));		\
	}

static void give(struct wefti_ex_thread *self, const void *at)
{
	wefti_ex_native_give(self, at);
}

static int take(struct wefti_ex_thread *self, const void *at, int result)
{
	if (result >= 0)
		wefti_ex_native_take(self, at);
	return result;
}

static void no_give(const struct wefti_ex_thread *self, const void *at)
{
	(void)self;
	(void)at;
}

static int no_take(const struct wefti_ex_thread *self, const void *at, int result)
{
	(void)self;
	(void)at;
	return result;
}

/* After a call that may have locked the object. */
static int locked(struct wefti_ex_thread *self, const void *at, enum wefti_ex_kind kind,
		  int error)
{
	if (self && error == 0) {
		wefti_ex_object(at, kind, NULL)->holder = self->number;
		wefti_ex_take(self, at);
		wefti_ex_take(self, wefti_ex_second(at));
	}
	return did(self, error);
}

/*
 * Before a call that unlocks the object. Readers give to a key of their own, which writers
 * alone take. Returns the holder, for unlocked().
 */
static uint32_t unlocks(struct wefti_ex_thread *self, const void *at, enum wefti_ex_kind kind)
{
	struct wefti_ex_object *o;
	uint32_t holder;

	if (!self)
		return 0;
	o = wefti_ex_object(at, kind, NULL);
	holder = o->holder;
	wefti_ex_give(self, holder == self->number ? at : wefti_ex_second(at));
	o->holder = 0;
	return holder;
}

/* Behind that call. One that failed has unlocked nothing: the object has its holder again. */
static int unlocked(struct wefti_ex_thread *self, const void *at, enum wefti_ex_kind kind,
		    uint32_t holder, int error)
{
	if (self && error)
		wefti_ex_object(at, kind, NULL)->holder = holder;
	return did(self, error);
}

#define LOCK1(name, op, kind, A)						\
	EXPORT int name(A a)							\
	{									\
		struct wefti_ex_thread *self =					\
			wefti_ex_native_point(WEFTI_EX_##op, a, WEFTI_EX_##kind, CALLER); \
		return locked(self, a, WEFTI_EX_##kind, NEXT(name)(a));		\
	}
#define LOCK2(name, op, kind, A)						\
	EXPORT int name(A a, int64_t deadline)					\
	{									\
		struct wefti_ex_thread *self =					\
			wefti_ex_native_point(WEFTI_EX_##op, a, WEFTI_EX_##kind, CALLER); \
		return locked(self, a, WEFTI_EX_##kind, NEXT(name)(a, deadline)); \
	}
#define UNLOCK(name, kind, A)							\
	EXPORT int name(A a)							\
	{									\
		struct wefti_ex_thread *self =					\
			wefti_ex_native_point(WEFTI_EX_UNLOCK, a, WEFTI_EX_##kind, CALLER); \
		const uint32_t holder = unlocks(self, a, WEFTI_EX_##kind);	\
										\
		return unlocked(self, a, WEFTI_EX_##kind, holder, NEXT(name)(a)); \
	}

LOCK1(weft_mutex_lock, LOCK, MUTEX, struct weft_mutex *)
LOCK2(weft_mutex_lock_until, LOCK, MUTEX, struct weft_mutex *)
LOCK1(weft_mutex_try_lock, TRYLOCK, MUTEX, struct weft_mutex *)
UNLOCK(weft_mutex_unlock, MUTEX, struct weft_mutex *)
POINT1(weft_mutex_destroy, DESTROY, MUTEX, struct weft_mutex *, no_give, no_take)
POINT1(weft_cond_signal, SIGNAL, COND, struct weft_cond *, give, no_take)
POINT1(weft_cond_broadcast, BROADCAST, COND, struct weft_cond *, give, no_take)
POINT1(weft_rwlock_read, READ, RWLOCK, struct weft_rwlock *, no_give, take)
POINT2(weft_rwlock_read_until, READ, RWLOCK, struct weft_rwlock *, no_give, take)
POINT1(weft_rwlock_try_read, TRYREAD, RWLOCK, struct weft_rwlock *, no_give, take)
LOCK1(weft_rwlock_write, WRITE, RWLOCK, struct weft_rwlock *)
LOCK2(weft_rwlock_write_until, WRITE, RWLOCK, struct weft_rwlock *)
LOCK1(weft_rwlock_try_write, TRYWRITE, RWLOCK, struct weft_rwlock *)
UNLOCK(weft_rwlock_unlock, RWLOCK, struct weft_rwlock *)
POINT1(weft_sem_post, POST, SEM, struct weft_sem *, give, no_take)
POINT1(weft_sem_wait, TAKE, SEM, struct weft_sem *, no_give, take)
POINT2(weft_sem_wait_until, TAKE, SEM, struct weft_sem *, no_give, take)
POINT1(weft_sem_try_wait, TRYTAKE, SEM, struct weft_sem *, no_give, take)
/* A thread that is late takes what the next round has given, too: a race may be missed. */
POINT1(weft_barrier_wait, MEET, BARRIER, struct weft_barrier *, give, take)
POINT2(weft_barrier_wait_until, MEET, BARRIER, struct weft_barrier *, give, take)

/* What the call does to a second object, for the search. */
static void changes(struct wefti_ex_thread *self, enum wefti_ex_op op, const void *at,
		    enum wefti_ex_kind kind)
{
	if (self)
		wefti_ex_past(self, op, wefti_ex_object(at, kind, NULL));
}

/*
 * With --spurious a wait may end at once. The runtime never ends one so; but a program may be
 * meant for threads that do. The mutex is had again behind a point.
 */
static int ends_without_signal(struct wefti_ex_thread *self)
{
	return self && wefti_ex_is_spurious(self, &self, 1) != NULL;
}

static int spurious(struct wefti_ex_thread *self, struct weft_mutex *m, const void *where)
{
	const uint32_t holder = unlocks(self, m, WEFTI_EX_MUTEX);
	const int error = unlocked(self, m, WEFTI_EX_MUTEX, holder,
				   NEXT(weft_mutex_unlock)(m));

	if (error)
		return error;
	self = wefti_ex_native_point(WEFTI_EX_RELOCK, m, WEFTI_EX_MUTEX, where);
	return locked(self, m, WEFTI_EX_MUTEX, NEXT(weft_mutex_lock)(m));
}

static int cond_wait(struct weft_cond *c, struct weft_mutex *m, int64_t deadline,
		     const void *where)
{
	struct wefti_ex_thread *self = wefti_ex_native_point(WEFTI_EX_WAIT, c, WEFTI_EX_COND,
							     where);
	uint32_t holder;
	int error;

	if (ends_without_signal(self))
		return spurious(self, m, where);
	changes(self, WEFTI_EX_UNLOCK, m, WEFTI_EX_MUTEX);
	holder = unlocks(self, m, WEFTI_EX_MUTEX);
	error = deadline == WEFT_FOREVER ? NEXT(weft_cond_wait)(c, m) :
					   NEXT(weft_cond_wait_until)(c, m, deadline);
	if (error == -EINVAL || error == -EPERM)
		(void)unlocked(self, m, WEFTI_EX_MUTEX, holder, error);
	else
		(void)locked(self, m, WEFTI_EX_MUTEX, 0);
	error = take(self, c, error);
	changes(self, WEFTI_EX_RELOCK, m, WEFTI_EX_MUTEX);
	return error;
}

EXPORT int weft_cond_wait(struct weft_cond *c, struct weft_mutex *m)
{
	return cond_wait(c, m, WEFT_FOREVER, CALLER);
}

EXPORT int weft_cond_wait_until(struct weft_cond *c, struct weft_mutex *m, int64_t deadline)
{
	return cond_wait(c, m, deadline, CALLER);
}

/* The function of a once, which happens before each return of 0. */
struct first {
	int (*fn)(void *arg);
	void *arg;
	const void *once;
};

static int run_first(void *first)
{
	const struct first *f = first;
	const int error = f->fn(f->arg);

	if (!error)
		wefti_ex_native_give(wefti_ex_native_current(), f->once);
	return error;
}

EXPORT int weft_once(struct weft_once *once, int (*fn)(void *), void *arg)
{
	struct wefti_ex_thread *self = wefti_ex_native_point(WEFTI_EX_ONCE, once, WEFTI_EX_FLAG,
							     CALLER);
	struct first first = { fn, arg, once };

	return take(self, once, did(self, fn ? NEXT(weft_once)(once, run_first, &first) :
					       NEXT(weft_once)(once, fn, arg)));
}

EXPORT int weft_once_until(struct weft_once *once, int (*fn)(void *), void *arg,
			   int64_t deadline)
{
	struct wefti_ex_thread *self = wefti_ex_native_point(WEFTI_EX_ONCE, once, WEFTI_EX_FLAG,
							     CALLER);
	struct first first = { fn, arg, once };

	return take(self, once, did(self, fn ?
		    NEXT(weft_once_until)(once, run_first, &first, deadline) :
		    NEXT(weft_once_until)(once, fn, arg, deadline)));
}

EXPORT void weft_yield(void)
{
	if (!wefti_ex_native_point(WEFTI_EX_YIELD, NULL, WEFTI_EX_NOTHING, CALLER))
		NEXT(weft_yield)();
}

EXPORT int weft_sleep(int64_t ns)
{
	struct wefti_ex_thread *self = wefti_ex_native_point(WEFTI_EX_SLEEP, NULL,
							     WEFTI_EX_NOTHING, CALLER);

	return did(self, NEXT(weft_sleep)(ns));
}

EXPORT int weft_sleep_until(int64_t deadline)
{
	struct wefti_ex_thread *self = wefti_ex_native_point(WEFTI_EX_SLEEP, NULL,
							     WEFTI_EX_NOTHING, CALLER);

	return did(self, NEXT(weft_sleep_until)(deadline));
}

EXPORT int weft_start(const struct weft_options *options)
{
	const int error = NEXT(weft_start)(options);

	if (error == 0 && wefti_ex.is_native && wefti_ex.is_on)
		wefti_ex_native_started();
	return error;
}

static void *thread_main(void *thread)
{
	struct wefti_ex_thread *self = thread;
	void *result;

	wefti_ex_native_enters(self);
	result = self->call.fn(self->call.arg);
	wefti_ex_native_ends();
	return result;
}

/* The child runs first, up to its begin: which of the two goes on is a choice. */
EXPORT int weft_spawn(uint64_t *id, const struct weft_attr *attr, void *(*fn)(void *),
		      void *arg)
{
	const struct wefti_ex_call call = { fn, arg, (const void *)(uintptr_t)fn, NULL };
	struct wefti_ex_thread *self, *t = NULL;
	uint64_t got;
	int error;

	self = wefti_ex_native_point(WEFTI_EX_CREATE, NULL, WEFTI_EX_NOTHING, CALLER);
	if (self && fn)
		t = wefti_ex_native_make(&call, attr && (attr->flags & WEFT_DETACHED));
	if (!t)
		return NEXT(weft_spawn)(id, attr, fn, arg);
	error = NEXT(weft_spawn)(id ? id : &got, attr, thread_main, t);
	if (error)
		wefti_ex_native_forget(t);
	else
		(void)wefti_ex_native_point_of(WEFTI_EX_CREATED, id ? *id : got, CALLER);
	return error;
}

static int group_main(void *thread)
{
	struct wefti_ex_thread *self = thread;
	int result;

	wefti_ex_native_enters(self);
	result = ((int (*)(void *))(uintptr_t)self->call.entry)(self->call.arg);
	wefti_ex_native_ends();
	return result;
}

/* The group joins it, so it is forgotten at its end. */
EXPORT int weft_group_spawn(struct weft_group *group, uint64_t *id, const struct weft_attr *attr,
			    int (*fn)(void *), void *arg)
{
	const struct wefti_ex_call call = { NULL, arg, (const void *)(uintptr_t)fn, group };
	struct wefti_ex_thread *self, *t = NULL;
	uint64_t got;
	int error;

	self = wefti_ex_native_point(WEFTI_EX_CREATE, NULL, WEFTI_EX_NOTHING, CALLER);
	if (self && fn)
		t = wefti_ex_native_make(&call, 1);
	if (!t)
		return NEXT(weft_group_spawn)(group, id, attr, fn, arg);
	error = NEXT(weft_group_spawn)(group, id ? id : &got, attr, group_main, t);
	if (error)
		wefti_ex_native_forget(t);
	else
		(void)wefti_ex_native_point_of(WEFTI_EX_CREATED, id ? *id : got, CALLER);
	return error;
}

EXPORT void weft_exit(void *result)
{
	wefti_ex_native_ends();
	NEXT(weft_exit)(result);
	__builtin_unreachable();
}

static int join(uint64_t id, void **result, int64_t deadline, const void *where)
{
	struct wefti_ex_thread *self = wefti_ex_native_point_of(WEFTI_EX_JOIN, id, where);
	const int error = deadline == WEFT_FOREVER ? NEXT(weft_join)(id, result) :
						     NEXT(weft_join_until)(id, result, deadline);

	(void)did(self, error);
	if (error == 0)
		wefti_ex_native_joined(id);
	return error;
}

EXPORT int weft_join(uint64_t id, void **result)
{
	return join(id, result, WEFT_FOREVER, CALLER);
}

EXPORT int weft_join_until(uint64_t id, void **result, int64_t deadline)
{
	return join(id, result, deadline, CALLER);
}

EXPORT int weft_detach(uint64_t id)
{
	struct wefti_ex_thread *self = wefti_ex_native_point_of(WEFTI_EX_DETACH, id, CALLER);
	const int error = did(self, NEXT(weft_detach)(id));

	if (error == 0)
		wefti_ex_native_detached(id);
	return error;
}

EXPORT int weft_cancel(uint64_t id)
{
	struct wefti_ex_thread *self = wefti_ex_native_point_of(WEFTI_EX_CANCEL, id, CALLER);

	wefti_ex_native_cancels(self, id);
	return did(self, NEXT(weft_cancel)(id));
}
