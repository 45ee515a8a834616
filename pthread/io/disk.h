/* SPDX-License-Identifier: MIT */
/* pthread/io/disk.h - green threads that wait for a disk */
#ifndef WEFT_PTHREAD_IO_DISK_H
#define WEFT_PTHREAD_IO_DISK_H

#include "io/disk.h"

/*
 * Which of O_DIRECT and O_DSYNC the file was opened with: reads or writes bypass the page
 * cache. The answer is a guess that costs no system call (pthread/wait/fd_table.h).
 */
int wefti_pt_fd_past_memory(int fd);

/*
 * Makes the call: a sync, or a read or write at call->at of a file with O_DIRECT. If
 * enough kernel threads wait already, the caller takes none. Returns as libc's calls do.
 */
ssize_t wefti_pt_disk_call(const struct wefti_os_disk_call *call);

#endif
