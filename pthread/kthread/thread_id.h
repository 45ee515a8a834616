/* SPDX-License-Identifier: MIT */
/* pthread/kthread/thread_id.h - calls that take a green thread's gettid() */
#ifndef WEFT_PTHREAD_KTHREAD_THREAD_ID_H
#define WEFT_PTHREAD_KTHREAD_THREAD_ID_H

/* A system call that names a green thread. Returns 1 if it is done. */
int wefti_thread_id_syscall(long number, const long *a, long *result);

#endif
