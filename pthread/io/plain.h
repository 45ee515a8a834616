/* SPDX-License-Identifier: MIT */
/* pthread/io/plain.h - reads and writes by the system calls that a filter leaves */
#ifndef WEFT_PTHREAD_IO_PLAIN_H
#define WEFT_PTHREAD_IO_PLAIN_H

#include <sys/types.h>
#include <sys/uio.h>

/*
 * libc's preadv2() and pwritev2(); at -1: at the file's position. If these calls are not
 * available: the older calls, without flags. In the end read() and write(), which take
 * only the first buffer.
 */
ssize_t wefti_pt_plain_read(int fd, const struct iovec *iov, int count, off_t at,
			    int flags);
ssize_t wefti_pt_plain_write(int fd, const struct iovec *iov, int count,
			     off_t at, int flags);

#endif
