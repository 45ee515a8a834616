/* SPDX-License-Identifier: MIT */
/* pthread/kthread/proc.h - what a green thread has in /proc */
#ifndef WEFT_PTHREAD_KTHREAD_PROC_H
#define WEFT_PTHREAD_KTHREAD_PROC_H

#include <stddef.h>
#include <string.h>

#include "base/compiler.h"

#define WEFTI_PROC_BYTES	512
#define WEFTI_PROC_NONE		(-2)

/*
 * The path of what stands for a file of a green thread: /proc/self/task/ID, /proc/ID
 * and what is in these, and /proc/thread-self. Written into `room`; any other path as it
 * is.
 */
const char *wefti_proc_map(const char *path, char room[WEFTI_PROC_BYTES]);

static inline int wefti_proc_is_in(const char *path)
{
	return unlikely(path && strncmp(path, "/proc/", 6) == 0);
}

/* A name, or a state, of a green thread is opened. NONE: it is none of these. */
int wefti_proc_open(const char *path, int flags);

/* As readlink() of /proc/thread-self. NONE: it is another. */
long wefti_proc_readlink(const char *path, char *to, size_t bytes);

/* What has been written into a thread's comm is its name from now on. */
struct wefti_thread;
void wefti_proc_take_name(struct wefti_thread *t);
void wefti_proc_thread_ends(void);

/* A system call that has a path. Returns 1 when it is done. */
int wefti_proc_syscall(long number, const long *a, long *result);

#endif
