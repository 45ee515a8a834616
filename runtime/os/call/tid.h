/* SPDX-License-Identifier: MIT */
/* os/call/tid.h - the ids of kernel threads, and signals to one */
#ifndef WEFT_OS_CALL_TID_H
#define WEFT_OS_CALL_TID_H

/* The caller's id, and the process's. */
int wefti_os_gettid(void);

/* From now on another function tells the caller's id, without a system call. NULL: none. */
void wefti_os_gettid_by(int (*fn)(void));
int wefti_os_pid(void);

/* Has the program more privileges than its caller: set-user-ID, or a file's capabilities? */
int wefti_os_is_privileged(void);

/*
 * Sends a signal to one kernel thread of this process. Returns 0, -ESRCH when it has ended,
 * or -EAGAIN when too many signals are queued. A tid of 0 is that of a kernel thread which
 * has not begun: -ESRCH. A VCPU may just have been given to such a one, when a thread asks
 * for the thread that the VCPU ran before (sched/preempt.c).
 */
int wefti_os_kthread_signal(int tid, int signal);

#endif
