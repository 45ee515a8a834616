/* SPDX-License-Identifier: MIT */
/* pthread/kthread/thread_id.h - calls that are given what gettid() says of a green thread */
#ifndef WEFT_PTHREAD_KTHREAD_THREAD_ID_H
#define WEFT_PTHREAD_KTHREAD_THREAD_ID_H

/* A system call that names one. Returns 1 when it is done. */
int wefti_thread_id_syscall(long number, const long *a, long *result);

#endif
