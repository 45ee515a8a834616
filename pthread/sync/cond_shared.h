/* SPDX-License-Identifier: MIT */
/* pthread/sync/cond_shared.h - condition variables that processes share */
#ifndef WEFT_PTHREAD_SYNC_COND_SHARED_H
#define WEFT_PTHREAD_SYNC_COND_SHARED_H

#include <pthread.h>
#include <stdint.h>

/* These do what the functions of pthread.h do. The deadline is of CLOCK_MONOTONIC. */
int wefti_cond_shared_wait(pthread_cond_t *c, pthread_mutex_t *m,
			   int64_t deadline);
int wefti_cond_shared_signal(pthread_cond_t *c);
int wefti_cond_shared_broadcast(pthread_cond_t *c);
int wefti_cond_shared_destroy(pthread_cond_t *c);

#endif
