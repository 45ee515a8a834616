/* SPDX-License-Identifier: MIT */
/* pthread/io/disk.h - green threads that wait for a disk */
#ifndef WEFT_PTHREAD_IO_DISK_H
#define WEFT_PTHREAD_IO_DISK_H

#include "io/disk.h"

/*
 * Which of O_DIRECT and O_DSYNC the file was opened with: it is read or written
 * past what is in memory. A guess, which costs no system call (pthread/wait/fd_table.h).
 */
int wefti_pt_fd_past_memory(int fd);

/*
 * Does the call: a sync, or at call->at of a file with O_DIRECT. Without a kernel
 * thread of its own where others have some. As libc's.
 */
ssize_t wefti_pt_disk_call(const struct wefti_os_disk_call *call);

#endif
