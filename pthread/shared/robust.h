/* SPDX-License-Identifier: MIT */
/* pthread/shared/robust.h - robust mutexes: the owner may end, or be killed, with them */
#ifndef WEFT_PTHREAD_SHARED_ROBUST_H
#define WEFT_PTHREAD_SHARED_ROBUST_H

#include <pthread.h>
#include <stdint.h>

/* Called by wefti_guard_begin() and wefti_guard_forget() (pthread/shared/shared.h). */
void wefti_robust_guard(void);
void wefti_robust_forget(void);

/* At start: takes over the robust mutexes that the first thread locked by libc. */
void wefti_robust_adopt(void);

/* The calling thread ends: gives up the robust mutexes that it still holds. */
void wefti_robust_thread_ends(void);

/* Called before the calling thread takes its first robust mutex. */
void wefti_robust_watch_end(void);

/*
 * Used while the runtime is on. Does what pthread_mutex_lock() does, until the deadline;
 * with WEFT_NO_WAIT, what pthread_mutex_trylock() does.
 */
int wefti_robust_lock(pthread_mutex_t *m, int64_t deadline);
int wefti_robust_unlock(pthread_mutex_t *m);
int wefti_robust_is_mine(const pthread_mutex_t *m);

#endif
