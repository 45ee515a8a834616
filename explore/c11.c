/* SPDX-License-Identifier: MIT */
/* explore/c11.c - C11's threads: glibc's types are those of pthreads, by another name */
#include "explore.h"

#include <stdint.h>

#include "pthread/core/c11.h"
#include "real.h"

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
	struct wefti_ex_call call = { .fn = thread_main, .entry = (const void *)(uintptr_t)fn };
	struct begun *b;

	if (!wefti_ex_controlled())
		return REAL(thrd_create)(id, fn, arg);
	b = wefti_ex_memory(sizeof(*b));	/* for good, as a thread's struct */
	b->fn = fn;
	b->arg = arg;
	call.arg = b;
	return wefti_c11_created(wefti_ex_create(id, NULL, &call, CALLER));
}

EXPORT int thrd_join(thrd_t id, int *result)
{
	void *value = NULL;
	const int error = wefti_ex_controlled() ?
			  wefti_ex_join(id, &value, WEFTI_EX_NEVER, CALLER) :
			  REAL(pthread_join)(id, &value);

	if (!error && result)
		*result = (int)(intptr_t)value;
	return wefti_c11_result(error);
}

EXPORT int thrd_detach(thrd_t id)
{
	return wefti_c11_result(wefti_ex_detach(id, CALLER));
}

EXPORT int mtx_init(mtx_t *m, int type)
{
	if (wefti_ex_controlled())
		wefti_ex_object_begins(m, WEFTI_EX_MUTEX);
	return REAL(mtx_init)(m, type);
}

EXPORT int mtx_lock(mtx_t *m)
{
	return wefti_c11_result(wefti_ex_controlled() ?
		   wefti_ex_lock(wefti_c11_mutex(m), WEFTI_EX_NEVER, WEFTI_EX_LOCK, CALLER) :
		   REAL(pthread_mutex_lock)(wefti_c11_mutex(m)));
}

EXPORT int mtx_timedlock(mtx_t *m, const struct timespec *time)
{
	int64_t deadline;

	if (!wefti_ex_controlled())
		return wefti_c11_result(REAL(pthread_mutex_timedlock)(wefti_c11_mutex(m), time));
	if (wefti_ex_deadline(CLOCK_REALTIME, time, &deadline) != 0)
		return thrd_error;
	return wefti_c11_result(wefti_ex_lock(wefti_c11_mutex(m), deadline, WEFTI_EX_LOCK, CALLER));
}

EXPORT int mtx_trylock(mtx_t *m)
{
	return wefti_c11_result(wefti_ex_controlled() ? wefti_ex_trylock(wefti_c11_mutex(m), CALLER) :
					   REAL(pthread_mutex_trylock)(wefti_c11_mutex(m)));
}

EXPORT int mtx_unlock(mtx_t *m)
{
	return wefti_c11_result(wefti_ex_controlled() ? wefti_ex_unlock(wefti_c11_mutex(m), CALLER) :
					   REAL(pthread_mutex_unlock)(wefti_c11_mutex(m)));
}

EXPORT void mtx_destroy(mtx_t *m)
{
	(void)wefti_ex_mutex_destroy(wefti_c11_mutex(m), CALLER);
}

EXPORT int cnd_init(cnd_t *c)
{
	return wefti_c11_result(pthread_cond_init(wefti_c11_cond(c), NULL));
}

EXPORT int cnd_wait(cnd_t *c, mtx_t *m)
{
	return wefti_c11_result(wefti_ex_controlled() ?
		   wefti_ex_cond_wait(wefti_c11_cond(c), wefti_c11_mutex(m), WEFTI_EX_NEVER, CALLER) :
		   REAL(pthread_cond_wait)(wefti_c11_cond(c), wefti_c11_mutex(m)));
}

EXPORT int cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *time)
{
	int64_t deadline;

	if (!wefti_ex_controlled())
		return wefti_c11_result(REAL(pthread_cond_timedwait)(wefti_c11_cond(c), wefti_c11_mutex(m), time));
	if (wefti_ex_deadline(CLOCK_REALTIME, time, &deadline) != 0)
		return thrd_error;
	return wefti_c11_result(wefti_ex_cond_wait(wefti_c11_cond(c), wefti_c11_mutex(m), deadline, CALLER));
}

EXPORT int cnd_signal(cnd_t *c)
{
	return wefti_c11_result(wefti_ex_cond_signal(wefti_c11_cond(c), CALLER));
}

EXPORT int cnd_broadcast(cnd_t *c)
{
	return wefti_c11_result(wefti_ex_cond_broadcast(wefti_c11_cond(c), CALLER));
}

EXPORT void cnd_destroy(cnd_t *c)
{
	(void)wefti_ex_cond_destroy(wefti_c11_cond(c), CALLER);
}
