/* SPDX-License-Identifier: MIT */
/* pthread/io/io.h - what calls that read and write have in common */
#ifndef WEFT_PTHREAD_IO_IO_H
#define WEFT_PTHREAD_IO_IO_H

#include <errno.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "os/call/missing.h"

/* The kernel does not know how to do that to this file without waiting. */
static inline int wefti_pt_cannot_try(ssize_t r)
{
	return r == -EOPNOTSUPP || r == -EINVAL || r == -ESPIPE ||
	       wefti_os_is_missing(r);
}

/*
 * A file, or a disk: always ready, though it may have to wait for the disk, and
 * a read that is short of what was asked for is short of the file's end.
 */
int wefti_pt_fd_is_file(int fd);

/* As preadv2(), without waiting; the kernel's result. */
ssize_t wefti_pt_try_read(int fd, const struct iovec *iov, int count, off_t at,
			  int flags);

/* As preadv2(), in a region unless the file is in memory; as libc's. */
ssize_t wefti_pt_read_waiting(int fd, const struct iovec *iov, int count,
			      off_t at, int flags);

/*
 * The same of a file, and waits for the disk. r is what a first try has had,
 * below 0: nothing. As libc's.
 */
ssize_t wefti_pt_file_read(int fd, const struct iovec *iov, int count, off_t at,
			   int flags, ssize_t r);
ssize_t wefti_pt_file_write(int fd, const struct iovec *iov, int count,
			    off_t at, int flags);

/*
 * Calls of pthread/io/fd.c by syscall(). Returns 0 for the kernel to do it, or 1 and the
 * kernel's result.
 */
int wefti_pt_fd_syscall(long number, const long a[6], long *result);

#endif
