/* SPDX-License-Identifier: MIT */
/* os/call/tasks.h - all kernel threads of the process, as the kernel lists them */
#ifndef WEFT_OS_CALL_TASKS_H
#define WEFT_OS_CALL_TASKS_H

#include <stddef.h>

/*
 * Calls visit for each; no malloc. Returns how many, or -1: /proc is not there
 * (then nobody was visited). visit may be NULL.
 */
int wefti_os_tasks(void (*visit)(int tid, void *arg), void *arg);

/*
 * What /proc/self/task/TID/FILE says, as a string, cut where the room ends; "" when it
 * cannot be read. Returns 0 if it says nothing.
 */
int wefti_os_task_text(int tid, const char *file, char *buf, size_t size);

/*
 * The first line of /proc/self/task/TID/FILE without its end; "" when it cannot
 * be read.
 */
void wefti_os_task_line(int tid, const char *file, char *buf, size_t size);

/*
 * Who traces a kernel thread, of whatever process: a kernel thread's id. 0: nobody, or
 * there is no such, or the kernel does not say. Costs about 10 us.
 */
int wefti_os_tracer(int tid);

/* The process whose pidfd, or folder in /proc, that is; -1: of none, or not known. */
int wefti_os_pidfd_process(int fd);

/* Does a kernel thread of this process block a signal? 0 also if it cannot be known. */
int wefti_os_task_blocks(int tid, int signal);

#endif
