/* SPDX-License-Identifier: MIT */
/* pthread/process/ptrace.h - ptrace(), and waits for a child that is traced */
#ifndef WEFT_PTHREAD_PROCESS_PTRACE_H
#define WEFT_PTHREAD_PROCESS_PTRACE_H

#include <sys/types.h>

/*
 * begin(): the runtime has started, with the receiver. forget(): in the child of a fork.
 */
void wefti_trace_begin(void);
void wefti_trace_forget(void);

/* Called by the receiver each time it was woken. */
void wefti_trace_pass_on(void);

/* Is pid traced by this process? Also 0 if the kernel does not say (no /proc). */
int wefti_trace_is_ours(pid_t pid);

/* ptrace() by syscall(). Returns 0: it is another call. */
int wefti_trace_syscall(long number, const long *a, long *result);

#endif
