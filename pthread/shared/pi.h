/* SPDX-License-Identifier: MIT */
/* pthread/shared/pi.h - mutexes that processes share, and that inherit priorities */
#ifndef WEFT_PTHREAD_SHARED_PI_H
#define WEFT_PTHREAD_SHARED_PI_H

#include <pthread.h>
#include <stdint.h>

/*
 * Used while the runtime is on. Does what pthread_mutex_lock() does, until the deadline;
 * with WEFT_NO_WAIT, what pthread_mutex_trylock() does.
 */
int wefti_pi_lock(pthread_mutex_t *m, int64_t deadline);
int wefti_pi_unlock(pthread_mutex_t *m);
int wefti_pi_is_mine(const pthread_mutex_t *m);

/* The calling thread ends: gives up the mutexes of this kind that it still holds. */
void wefti_pi_thread_ends(void);

void wefti_pi_forget(void);	/* in the child of a fork */

#endif
