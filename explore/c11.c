/* SPDX-License-Identifier: MIT */
/* explore/c11.c - C11's threads: glibc's types are those of pthreads, by another name */
#include "explore.h"

#include <errno.h>
#include <stdint.h>

#include "real.h"

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "mtx_t is a pthread_mutex_t");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "cnd_t is a pthread_cond_t");

static int c11(int error)
{
	return error == 0 ? thrd_success : error == EBUSY ? thrd_busy :
	       error == ETIMEDOUT ? thrd_timedout :
	       error == ENOMEM || error == EAGAIN ? thrd_nomem : thrd_error;
}

struct begun {
	thrd_start_t fn;
	void *arg;
};

static void *thread_main(void *arg)
{
	const struct begun *b = arg;

	return (void *)(intptr_t)b->fn(b->arg);
}

EXPORT int thrd_create(thrd_t *id, thrd_start_t fn, void *arg)
{
	struct begun *b;

	if (!wefti_ex_controlled())
		return REAL(thrd_create)(id, fn, arg);
	b = wefti_ex_memory(sizeof(*b));	/* for good, as a thread's struct */
	b->fn = fn;
	b->arg = arg;
	return c11(wefti_ex_create(id, NULL, thread_main, b, CALLER));
}

EXPORT int thrd_join(thrd_t id, int *result)
{
	void *value = NULL;
	const int error = wefti_ex_controlled() ?
			  wefti_ex_join(id, &value, WEFTI_EX_NEVER, CALLER) :
			  REAL(pthread_join)(id, &value);

	if (!error && result)
		*result = (int)(intptr_t)value;
	return c11(error);
}

EXPORT int thrd_detach(thrd_t id)
{
	return c11(pthread_detach(id));
}

EXPORT int mtx_init(mtx_t *m, int type)
{
	if (wefti_ex_controlled())
		wefti_ex_object_begins(m, WEFTI_EX_MUTEX);
	return REAL(mtx_init)(m, type);
}

static pthread_mutex_t *mutex(mtx_t *m)
{
	return (pthread_mutex_t *)(void *)m;
}

static pthread_cond_t *cond(cnd_t *c)
{
	return (pthread_cond_t *)(void *)c;
}

EXPORT int mtx_lock(mtx_t *m)
{
	return c11(wefti_ex_controlled() ?
		   wefti_ex_lock(mutex(m), WEFTI_EX_NEVER, WEFTI_EX_LOCK, CALLER) :
		   REAL(pthread_mutex_lock)(mutex(m)));
}

EXPORT int mtx_timedlock(mtx_t *m, const struct timespec *time)
{
	int64_t deadline;

	if (!wefti_ex_controlled())
		return c11(REAL(pthread_mutex_timedlock)(mutex(m), time));
	if (wefti_ex_deadline(CLOCK_REALTIME, time, &deadline) != 0)
		return thrd_error;
	return c11(wefti_ex_lock(mutex(m), deadline, WEFTI_EX_LOCK, CALLER));
}

EXPORT int mtx_trylock(mtx_t *m)
{
	return c11(wefti_ex_controlled() ? wefti_ex_trylock(mutex(m), CALLER) :
					   REAL(pthread_mutex_trylock)(mutex(m)));
}

EXPORT int mtx_unlock(mtx_t *m)
{
	return c11(wefti_ex_controlled() ? wefti_ex_unlock(mutex(m), CALLER) :
					   REAL(pthread_mutex_unlock)(mutex(m)));
}

EXPORT void mtx_destroy(mtx_t *m)
{
	(void)pthread_mutex_destroy(mutex(m));
}

EXPORT int cnd_init(cnd_t *c)
{
	return c11(pthread_cond_init(cond(c), NULL));
}

EXPORT int cnd_wait(cnd_t *c, mtx_t *m)
{
	return c11(wefti_ex_controlled() ?
		   wefti_ex_cond_wait(cond(c), mutex(m), WEFTI_EX_NEVER, CALLER) :
		   REAL(pthread_cond_wait)(cond(c), mutex(m)));
}

EXPORT int cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *time)
{
	int64_t deadline;

	if (!wefti_ex_controlled())
		return c11(REAL(pthread_cond_timedwait)(cond(c), mutex(m), time));
	if (wefti_ex_deadline(CLOCK_REALTIME, time, &deadline) != 0)
		return thrd_error;
	return c11(wefti_ex_cond_wait(cond(c), mutex(m), deadline, CALLER));
}

EXPORT int cnd_signal(cnd_t *c)
{
	return c11(pthread_cond_signal(cond(c)));
}

EXPORT int cnd_broadcast(cnd_t *c)
{
	return c11(pthread_cond_broadcast(cond(c)));
}

EXPORT void cnd_destroy(cnd_t *c)
{
	(void)pthread_cond_destroy(cond(c));
}
