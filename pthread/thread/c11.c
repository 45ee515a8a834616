/* SPDX-License-Identifier: MIT */
/*
 * pthread/thread/c11.c - the threads of C11
 *
 * These are the same objects under other names, as in libc. libc's own functions would
 * call libc's pthread functions directly, and not ours.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "pthread/core/real.h"

static int result(int error)
{
	switch (error) {
	case 0:
		return thrd_success;
	case EBUSY:
		return thrd_busy;
	case ENOMEM:
		return thrd_nomem;
	case ETIMEDOUT:
		return thrd_timedout;
	default:
		return thrd_error;
	}
}

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
	return error == EAGAIN ? thrd_nomem : result(error);
}

EXPORT int thrd_join(thrd_t thread, int *value)
{
	void *got;
	int error = pthread_join((pthread_t)thread, &got);

	if (!error && value)
		*value = (int)(intptr_t)got;
	return result(error);
}

EXPORT int thrd_detach(thrd_t thread)
{
	return result(pthread_detach((pthread_t)thread));
}

EXPORT void thrd_exit(int value)
{
	pthread_exit((void *)(intptr_t)value);
}

#define MUTEX(m)	((pthread_mutex_t *)(void *)(m))
#define COND(c)		((pthread_cond_t *)(void *)(c))

EXPORT int mtx_lock(mtx_t *m)
{
	return result(pthread_mutex_lock(MUTEX(m)));
}

EXPORT int mtx_trylock(mtx_t *m)
{
	return result(pthread_mutex_trylock(MUTEX(m)));
}

EXPORT int mtx_timedlock(mtx_t *m, const struct timespec *at)
{
	return result(pthread_mutex_timedlock(MUTEX(m), at));
}

EXPORT int mtx_unlock(mtx_t *m)
{
	return result(pthread_mutex_unlock(MUTEX(m)));
}

EXPORT void mtx_destroy(mtx_t *m)
{
	(void)!pthread_mutex_destroy(MUTEX(m));
}

EXPORT int cnd_wait(cnd_t *c, mtx_t *m)
{
	return result(pthread_cond_wait(COND(c), MUTEX(m)));
}

EXPORT int cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *at)
{
	return result(pthread_cond_timedwait(COND(c), MUTEX(m), at));
}

EXPORT int cnd_signal(cnd_t *c)
{
	return result(pthread_cond_signal(COND(c)));
}

EXPORT int cnd_broadcast(cnd_t *c)
{
	return result(pthread_cond_broadcast(COND(c)));
}

EXPORT void cnd_destroy(cnd_t *c)
{
	(void)!pthread_cond_destroy(COND(c));
}
