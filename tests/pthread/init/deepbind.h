/* SPDX-License-Identifier: MIT */
/* deepbind.h - what the plug-in of test_deepbind has */
#ifndef WEFT_TESTS_DEEPBIND_H
#define WEFT_TESTS_DEEPBIND_H

#include <pthread.h>

/* Adds 1 to *n so many times, each time with the mutex. */
void plug_in_add(pthread_mutex_t *m, long *n, long times);

/* Until *go. */
void plug_in_wait(pthread_mutex_t *m, pthread_cond_t *c, const int *go);

/* Has a thread of its own double n. */
long plug_in_thread(long n);

/* Waits for a byte. */
int plug_in_read(int fd);

#endif
