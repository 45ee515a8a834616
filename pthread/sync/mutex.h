/* SPDX-License-Identifier: MIT */
/* pthread/sync/mutex.h - mutexes, for condition variables */
#ifndef WEFT_PTHREAD_SYNC_MUTEX_H
#define WEFT_PTHREAD_SYNC_MUTEX_H

#include "pthread/shared/mutex_layout.h"

/*
 * Around a wait for a condition variable, with the mutex: who waits counts as a user,
 * and so pthread_mutex_destroy() is EBUSY, as libc has it. By 1 before, by -1 after.
 */
static inline void wefti_mutex_count_user(pthread_mutex_t *m, int by)
{
	if (!(m->__data.__kind & WEFTI_MUTEX_ROBUST))
		m->__data.__nusers += (unsigned)by;
}

/* 0: it checks who gives it back, and the caller does not have it. */
int wefti_mutex_may_wait(const pthread_mutex_t *m);

#endif
