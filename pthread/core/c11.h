/* SPDX-License-Identifier: MIT */
/*
 * pthread/core/c11.h - C11's threads in pthreads' words
 *
 * glibc's types of both are the same. libweft-explore.so has this header too, and nothing
 * else of this library.
 */
#ifndef WEFT_PTHREAD_CORE_C11_H
#define WEFT_PTHREAD_CORE_C11_H

#include <errno.h>
#include <pthread.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "mtx_t is a pthread_mutex_t");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "cnd_t is a pthread_cond_t");

static inline pthread_mutex_t *wefti_c11_mutex(mtx_t *m)
{
	return (pthread_mutex_t *)(void *)m;
}

static inline pthread_cond_t *wefti_c11_cond(cnd_t *c)
{
	return (pthread_cond_t *)(void *)c;
}

/* error: 0, or the number that the pthread function has returned. */
static inline int wefti_c11_result(int error)
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

/* The same for pthread_create(), which says EAGAIN if there is no memory. */
static inline int wefti_c11_created(int error)
{
	return error == EAGAIN ? thrd_nomem : wefti_c11_result(error);
}

#endif
