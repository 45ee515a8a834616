/* SPDX-License-Identifier: MIT */
/* os/call/tasks.h - all kernel threads of the process, as the kernel lists them */
#ifndef WEFT_OS_CALL_TASKS_H
#define WEFT_OS_CALL_TASKS_H

#include <stddef.h>

/*
 * Calls visit for each kernel thread; no malloc. Returns how many, or -1: there is no
 * /proc (then visit was not called). visit may be NULL.
 */
int wefti_os_tasks(void (*visit)(int tid, void *arg), void *arg);

/*
 * Reads /proc/self/task/TID/FILE as a string, cut to fit; "" if it cannot be read.
 * Returns 0 if it is empty.
 */
int wefti_os_task_text(int tid, const char *file, char *buf, size_t size);

/*
 * The first line of /proc/self/task/TID/FILE without its end; "" when it cannot
 * be read.
 */
void wefti_os_task_line(int tid, const char *file, char *buf, size_t size);

/*
 * The kernel thread that traces this one, which may be of any process. 0: none does, or
 * there is no such kernel thread, or the kernel does not say. Costs about 10 us.
 */
int wefti_os_tracer(int tid);

/* The process of a pidfd, or of a folder in /proc; -1: of none, or not known. */
int wefti_os_pidfd_process(int fd);

/* Does a kernel thread of this process block a signal? 0 also if it cannot be known. */
int wefti_os_task_blocks(int tid, int signal);

#endif
