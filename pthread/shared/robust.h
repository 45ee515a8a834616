/* SPDX-License-Identifier: MIT */
/* pthread/shared/robust.h - mutexes whose owner may end, or be killed, with them */
#ifndef WEFT_PTHREAD_SHARED_ROBUST_H
#define WEFT_PTHREAD_SHARED_ROBUST_H

#include <pthread.h>
#include <stdint.h>

/* Of pthread/shared/shared.h's guard: the same moments. */
void wefti_robust_guard(void);
void wefti_robust_forget(void);

/* The first thread, when the runtime has started: what it holds by libc. */
void wefti_robust_adopt(void);

/* The calling thread ends, as far as its locks go. */
void wefti_robust_thread_ends(void);

/* The caller is about to take its first. */
void wefti_robust_watch_end(void);

/*
 * While the runtime is on. As pthread_mutex_lock() until the deadline;
 * WEFT_NO_WAIT: as pthread_mutex_trylock().
 */
int wefti_robust_lock(pthread_mutex_t *m, int64_t deadline);
int wefti_robust_unlock(pthread_mutex_t *m);
int wefti_robust_is_mine(const pthread_mutex_t *m);

#endif
