/* SPDX-License-Identifier: MIT */
/* io/read.c - reads what is there */
#include <errno.h>

#include "io/call.h"
#include "io/disk.h"
#include "io/span.h"
#include "os/call/descriptor.h"
#include "weft/io.h"
#include "weft/runtime.h"

/* Reads without waiting. */
static ssize_t read_some(const struct wefti_call *call,
			 const struct iovec *iov, int count, size_t bytes)
{
	int fd = call->use.fd;
	ssize_t n;

	if (call->nonblocking || bytes == 0)
		return count == 1 ?
		       wefti_os_fd_read(fd, iov->iov_base, iov->iov_len) :
		       wefti_os_fd_readv(fd, iov, count);
	if (call->kind == WEFTI_OS_SOCKET) {
		struct msghdr msg = {
			.msg_iov = (struct iovec *)(uintptr_t)iov,
			.msg_iovlen = (size_t)count,
		};

		return wefti_os_fd_recvmsg(fd, &msg, MSG_DONTWAIT);
	}
	n = wefti_os_fd_readv_at_once(fd, iov, count, -1);
	if (n != -EOPNOTSUPP)
		return n;
	if (!wefti_call_is_ready(call, POLLIN))
		return -EAGAIN;
	return wefti_os_fd_readv(fd, iov, count);
}

static ssize_t attempt(const struct wefti_call *call, void *arg)
{
	const struct wefti_span *span = arg;

	if (call->kind == WEFTI_OS_FILE)
		return wefti_disk_read(call->use.fd, span->iov, span->count, -1);
	return read_some(call, span->iov, span->count, span->left);
}

ssize_t weft_readv_until(int fd, const struct iovec *iov, int count,
			 int64_t deadline)
{
	struct wefti_span span;

	if (count < 0)
		return -EINVAL;
	span = wefti_span(iov, count);
	return wefti_call_do(fd, WEFTI_READ_SIDE, WEFTI_SIDE_ONE, attempt,
			     &span, deadline);
}

ssize_t weft_readv(int fd, const struct iovec *iov, int count)
{
	return weft_readv_until(fd, iov, count, WEFT_FOREVER);
}

ssize_t weft_read_until(int fd, void *buf, size_t bytes, int64_t deadline)
{
	const struct iovec iov = { buf, bytes };

	return weft_readv_until(fd, &iov, 1, deadline);
}

ssize_t weft_read(int fd, void *buf, size_t bytes)
{
	return weft_read_until(fd, buf, bytes, WEFT_FOREVER);
}
