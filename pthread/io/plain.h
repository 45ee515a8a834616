/* SPDX-License-Identifier: MIT */
/* pthread/io/plain.h - reads and writes by what a filter leaves of the calls for them */
#ifndef WEFT_PTHREAD_IO_PLAIN_H
#define WEFT_PTHREAD_IO_PLAIN_H

#include <sys/types.h>
#include <sys/uio.h>

/*
 * As libc's preadv2() and pwritev2(), at -1 where the file is. Where these are not to be
 * had: without flags by the older calls, in the end by read() and write(), which take
 * the first piece only.
 */
ssize_t wefti_pt_plain_read(int fd, const struct iovec *iov, int count, off_t at,
			    int flags);
ssize_t wefti_pt_plain_write(int fd, const struct iovec *iov, int count,
			     off_t at, int flags);

#endif
