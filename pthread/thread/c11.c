/* SPDX-License-Identifier: MIT */
/*
 * pthread/thread/c11.c - the threads of C11
 *
 * These are the same objects under other names, as in libc. libc's own functions would
 * call libc's pthread functions directly, and not ours.
 */
#include <stdint.h>
#include <stdlib.h>

#include "pthread/core/c11.h"
#include "pthread/core/real.h"

struct begin {
	thrd_start_t fn;
	void *arg;
};

static void *run(void *given)
{
	struct begin begin = *(struct begin *)given;

	free(given);
	return (void *)(intptr_t)begin.fn(begin.arg);
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t fn, void *arg)
{
	struct begin *begin = malloc(sizeof(*begin));
	int error;

	if (!begin)
		return thrd_nomem;
	*begin = (struct begin){ fn, arg };
	error = pthread_create((pthread_t *)thread, NULL, run, begin);
	if (error)
		free(begin);
	return wefti_c11_created(error);
}

EXPORT int thrd_join(thrd_t thread, int *value)
{
	void *got;
	int error = pthread_join((pthread_t)thread, &got);

	if (!error && value)
		*value = (int)(intptr_t)got;
	return wefti_c11_result(error);
}

EXPORT int thrd_detach(thrd_t thread)
{
	return wefti_c11_result(pthread_detach((pthread_t)thread));
}

EXPORT void thrd_exit(int value)
{
	pthread_exit((void *)(intptr_t)value);
}

EXPORT int mtx_lock(mtx_t *m)
{
	return wefti_c11_result(pthread_mutex_lock(wefti_c11_mutex(m)));
}

EXPORT int mtx_trylock(mtx_t *m)
{
	return wefti_c11_result(pthread_mutex_trylock(wefti_c11_mutex(m)));
}

EXPORT int mtx_timedlock(mtx_t *m, const struct timespec *at)
{
	return wefti_c11_result(pthread_mutex_timedlock(wefti_c11_mutex(m), at));
}

EXPORT int mtx_unlock(mtx_t *m)
{
	return wefti_c11_result(pthread_mutex_unlock(wefti_c11_mutex(m)));
}

EXPORT void mtx_destroy(mtx_t *m)
{
	(void)!pthread_mutex_destroy(wefti_c11_mutex(m));
}

EXPORT int cnd_wait(cnd_t *c, mtx_t *m)
{
	return wefti_c11_result(pthread_cond_wait(wefti_c11_cond(c), wefti_c11_mutex(m)));
}

EXPORT int cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *at)
{
	return wefti_c11_result(pthread_cond_timedwait(wefti_c11_cond(c), wefti_c11_mutex(m), at));
}

EXPORT int cnd_signal(cnd_t *c)
{
	return wefti_c11_result(pthread_cond_signal(wefti_c11_cond(c)));
}

EXPORT int cnd_broadcast(cnd_t *c)
{
	return wefti_c11_result(pthread_cond_broadcast(wefti_c11_cond(c)));
}

EXPORT void cnd_destroy(cnd_t *c)
{
	(void)!pthread_cond_destroy(wefti_c11_cond(c));
}
