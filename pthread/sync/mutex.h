/* SPDX-License-Identifier: MIT */
/* pthread/sync/mutex.h - mutexes, for condition variables */
#ifndef WEFT_PTHREAD_SYNC_MUTEX_H
#define WEFT_PTHREAD_SYNC_MUTEX_H

#include "pthread/shared/mutex_owner.h"

/*
 * Called with the mutex held, by 1 before a wait for a condition variable, by -1 after.
 * The waiting thread counts as a user of the mutex. So pthread_mutex_destroy() returns
 * EBUSY, as libc's does.
 */
static inline void wefti_mutex_count_user(pthread_mutex_t *m, int by)
{
	if (!(m->__data.__kind & WEFTI_MUTEX_ROBUST))
		m->__data.__nusers += (unsigned)by;
}

/* A condition variable's wait gives its mutex up, and has it again. */
static inline void wefti_mutex_give_up(pthread_mutex_t *m)
{
	wefti_mutex_count_user(m, 1);
	(void)!pthread_mutex_unlock(m);
}

static inline int wefti_mutex_have_again(pthread_mutex_t *m)
{
	const int error = pthread_mutex_lock(m);

	wefti_mutex_count_user(m, -1);
	return error;
}

/* For a mutex that is not plain. */
int wefti_mutex_may_wait_other(const pthread_mutex_t *m);

/* 0: the mutex checks its owner at unlock, and the caller does not own it. */
static inline int wefti_mutex_may_wait(const pthread_mutex_t *m)
{
	return wefti_mutex_is_plain(m) || wefti_mutex_may_wait_other(m);
}

#endif
