/* SPDX-License-Identifier: MIT */
/* os/kthread/apart.h - a kernel thread whose descriptors are not the process's */
#ifndef WEFT_OS_KTHREAD_APART_H
#define WEFT_OS_KTHREAD_APART_H

/*
 * From here on the calling kernel thread has no descriptor of the process's, and
 * what it opens has a high number in a table of its own, which ends with it (not
 * with one that it creates: that shares the table). Returns 0, or -errno: all
 * is as it was.
 */
int wefti_os_descriptors_apart(void);

#endif
