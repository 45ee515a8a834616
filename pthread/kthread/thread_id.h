/* SPDX-License-Identifier: MIT */
/* pthread/kthread/thread_id.h - calls that are given what gettid() says of a green thread */
#ifndef WEFT_PTHREAD_KTHREAD_THREAD_ID_H
#define WEFT_PTHREAD_KTHREAD_THREAD_ID_H

#include <sys/types.h>

#include "base/compiler.h"

#define WEFTI_KERNEL_IDS	(1 << 22)	/* its own are below */

pid_t wefti_thread_id_process(pid_t id);

/* The process, where a green thread is named: to the kernel that is the same. */
static inline pid_t wefti_process_of(pid_t id)
{
	return likely(id < WEFTI_KERNEL_IDS) ? id : wefti_thread_id_process(id);
}

/* A green thread by such an id, whoever asks; NULL: none has it. */
struct wefti_thread *wefti_thread_by_id(pid_t id);

/* A system call that names one. Returns 1 when it is done. */
int wefti_thread_id_syscall(long number, const long *a, long *result);

#endif
