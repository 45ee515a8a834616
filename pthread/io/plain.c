/* SPDX-License-Identifier: MIT */
/* pthread/io/plain.c - reads and writes by the system calls that a filter leaves */
#include "pthread/io/plain.h"

#include <errno.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/call/missing.h"
#include "pthread/core/real.h"

/*
 * Is the call missing, so that the next one is to be tried? Then errno is as before. So it is
 * where the call did its work: libc's preadv2() may have tried another one first.
 */
static int is_refused(ssize_t r, int saved)
{
	if (r < 0 && !wefti_os_is_missing(-errno))
		return 0;
	errno = saved;
	return r < 0;
}

static const struct iovec *first_of(const struct iovec *iov, int count)
{
	while (count > 1 && iov->iov_len == 0) {
		iov++;
		count--;
	}
	return iov;
}

ssize_t wefti_pt_plain_read(int fd, const struct iovec *iov, int count, off_t at,
			    int flags)
{
	const int saved = errno;
	ssize_t r = REAL(preadv2)(fd, iov, count, at, flags);

	if (likely(!is_refused(r, saved)) || flags || count < 1)
		return r;
	r = at < 0 ? REAL(readv)(fd, iov, count) :
		     REAL(preadv)(fd, iov, count, at);
	if (!is_refused(r, saved))
		return r;
	iov = first_of(iov, count);
	return at < 0 ? REAL(read)(fd, iov->iov_base, iov->iov_len) :
			REAL(pread)(fd, iov->iov_base, iov->iov_len, at);
}

ssize_t wefti_pt_plain_write(int fd, const struct iovec *iov, int count,
			     off_t at, int flags)
{
	const int saved = errno;
	ssize_t r = REAL(pwritev2)(fd, iov, count, at, flags);

	if (likely(!is_refused(r, saved)) || flags || count < 1)
		return r;
	r = at < 0 ? REAL(writev)(fd, iov, count) :
		     REAL(pwritev)(fd, iov, count, at);
	if (!is_refused(r, saved))
		return r;
	iov = first_of(iov, count);
	return at < 0 ? REAL(write)(fd, iov->iov_base, iov->iov_len) :
			REAL(pwrite)(fd, iov->iov_base, iov->iov_len, at);
}
