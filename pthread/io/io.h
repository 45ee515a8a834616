/* SPDX-License-Identifier: MIT */
/* pthread/io/io.h - what the calls that read and write share */
#ifndef WEFT_PTHREAD_IO_IO_H
#define WEFT_PTHREAD_IO_IO_H

#include <errno.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "os/call/missing.h"

/* The kernel cannot do this on this file without waiting. */
static inline int wefti_pt_cannot_try(ssize_t r)
{
	return r == -EOPNOTSUPP || r == -EINVAL || r == -ESPIPE ||
	       wefti_os_is_missing(r);
}

/*
 * Is fd a file, or a disk? Such a descriptor is always ready, although a call may wait
 * for the disk. A short read there means the end of the file.
 */
int wefti_pt_fd_is_file(int fd);

/* preadv2() without waiting (pthread/io/file.c). Returns the kernel's result. */
ssize_t wefti_pt_try_read(int fd, const struct iovec *iov, int count, off_t at,
			  int flags);

/* preadv2(), in a region unless the file is in memory. Returns as libc's call does. */
ssize_t wefti_pt_read_waiting(int fd, const struct iovec *iov, int count,
			      off_t at, int flags);

/*
 * The same for a file; waits for the disk. r is the result of a first try; below 0: it
 * has done nothing. Returns as libc's call does.
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
