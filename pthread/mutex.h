/* SPDX-License-Identifier: MIT */
/* pthread/mutex.h - mutexes, for condition variables */
#ifndef WEFT_PTHREAD_MUTEX_H
#define WEFT_PTHREAD_MUTEX_H

#include <pthread.h>

/* 0: it checks for errors, and the caller does not have it. */
int wefti_mutex_may_wait(const pthread_mutex_t *m);

#endif
