/* SPDX-License-Identifier: MIT */
/* pthread/kthread/proc.h - the files of a green thread in /proc */
#ifndef WEFT_PTHREAD_KTHREAD_PROC_H
#define WEFT_PTHREAD_KTHREAD_PROC_H

#include <stddef.h>
#include <string.h>

#include "base/compiler.h"

#define WEFTI_PROC_BYTES	512
#define WEFTI_PROC_NONE		(-2)

/*
 * The path to open for a file of a green thread: /proc/self/task/ID, /proc/ID, the files
 * in these, and /proc/thread-self. The result is written into `room`. Any other path is
 * returned as it is.
 */
const char *wefti_proc_map(const char *path, char room[WEFTI_PROC_BYTES]);

static inline int wefti_proc_is_in(const char *path)
{
	return unlikely(path && strncmp(path, "/proc/", 6) == 0);
}

/* Opens a file with a green thread's name or state. NONE: the path is no such file. */
int wefti_proc_open(const char *path, int flags);

/* Does readlink() of /proc/thread-self. NONE: it is another path. */
long wefti_proc_readlink(const char *path, char *to, size_t bytes);

/*
 * Sets the thread's name to what has been written into its comm. The first thread's is
 * the kernel's file: refresh() reads that, too, unless weft writes names there.
 */
struct wefti_thread;
void wefti_proc_take_name(struct wefti_thread *t);
void wefti_proc_refresh_name(struct wefti_thread *t);
void wefti_proc_thread_ends(void);

/* A system call with a path. Returns 1 if it is done. */
int wefti_proc_syscall(long number, const long *a, long *result);

#endif
