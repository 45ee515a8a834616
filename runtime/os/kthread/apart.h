/* SPDX-License-Identifier: MIT */
/* os/kthread/apart.h - a kernel thread whose descriptors are not the process's */
#ifndef WEFT_OS_KTHREAD_APART_H
#define WEFT_OS_KTHREAD_APART_H

/*
 * From here on the calling kernel thread has none of the process's descriptors. What it
 * opens has a number from 48 on, in a table of its own. The table ends with this kernel
 * thread. A kernel thread that it creates shares the table. Returns 0, or -errno: nothing
 * has changed.
 */
int wefti_os_descriptors_apart(void);

/*
 * As pipe2(), for a library that remembers the numbers: they are from 1008 on, if there
 * are free ones. The descriptors are closed at an exec.
 */
int wefti_os_pipe_high(int fds[2], int flags);

#endif
