/* SPDX-License-Identifier: MIT */
/* os/call/tid.h - the ids of kernel threads, and signals to one */
#ifndef WEFT_OS_CALL_TID_H
#define WEFT_OS_CALL_TID_H

/* The caller's id. */
int wefti_os_gettid(void);

/*
 * Sends a signal to one kernel thread of this process. Returns 0, -ESRCH when
 * it has ended, or -EAGAIN when too many signals are queued.
 */
int wefti_os_kthread_signal(int tid, int signal);

#endif
