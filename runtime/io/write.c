/* SPDX-License-Identifier: MIT */
/* io/write.c - writes everything */
#include <errno.h>
#include <limits.h>

#include "io/call.h"
#include "io/span.h"
#include "os/call/descriptor.h"
#include "weft/io.h"
#include "weft/runtime.h"

static ssize_t write_file(int fd, const struct iovec *iov, int count)
{
	ssize_t n;

	weft_block_begin();
	n = wefti_os_fd_writev(fd, iov, count);
	weft_block_end();
	return n;
}

/* A blocking pipe or terminal on which the kernel has no write that does not wait. */
static ssize_t write_if_ready(const struct wefti_call *call,
			      const struct iovec *iov, int count)
{
	int fd = call->use.fd;
	size_t most;
	ssize_t n;

	while (count > 1 && !iov->iov_len) {
		iov++;
		count--;
	}
	/* A pipe that is ready has room for as much as is written in one piece. */
	most = !count ? 0 : iov->iov_len < PIPE_BUF ? iov->iov_len : PIPE_BUF;
	if (most && wefti_call_is_ready(call, POLLOUT))
		return wefti_os_fd_write(fd, iov->iov_base, most);
	/* Nothing can be written at once: only asks whether writing can work at all. */
	n = wefti_os_fd_writev(fd, NULL, 0);
	return n < 0 || !most ? n : -EAGAIN;
}

/* Writes without waiting, except for a file. */
static ssize_t write_some(const struct wefti_call *call,
			  const struct iovec *iov, int count)
{
	int fd = call->use.fd;
	ssize_t n;

	if (call->kind == WEFTI_OS_FILE)
		return write_file(fd, iov, count);
	if (call->nonblocking)
		return count == 1 ?
		       wefti_os_fd_write(fd, iov->iov_base, iov->iov_len) :
		       wefti_os_fd_writev(fd, iov, count);
	if (call->kind == WEFTI_OS_SOCKET) {
		const struct msghdr msg = {
			.msg_iov = (struct iovec *)(uintptr_t)iov,
			.msg_iovlen = (size_t)count,
		};

		return wefti_os_fd_sendmsg(fd, &msg, MSG_DONTWAIT);
	}
	n = wefti_os_fd_writev_at_once(fd, iov, count);
	return n == -EOPNOTSUPP ? write_if_ready(call, iov, count) : n;
}

static ssize_t attempt(const struct wefti_call *call, void *arg)
{
	struct wefti_span *span = arg;

	do {
		int count;
		const struct iovec *iov = wefti_span_next(span, &count);
		ssize_t n = write_some(call, iov, count);

		if (n < 0)
			return n;
		wefti_span_advance(span, (size_t)n);
		if (n == 0)
			break;
	} while (span->left);
	return 0;
}

ssize_t weft_writev_until(int fd, const struct iovec *iov, int count,
			  int64_t deadline)
{
	struct wefti_span span;
	size_t bytes;
	ssize_t error;

	if (count < 0)
		return -EINVAL;
	span = wefti_span(iov, count);
	bytes = span.left;
	/* Room for a little is not room for a record: each waits for its own. */
	error = wefti_call_do(fd, WEFTI_WRITE_SIDE, WEFTI_SIDE_ALL, attempt,
			      &span, deadline);
	if (error < 0 && span.left == bytes)
		return error;
	return (ssize_t)(bytes - span.left);
}

ssize_t weft_writev(int fd, const struct iovec *iov, int count)
{
	return weft_writev_until(fd, iov, count, WEFT_FOREVER);
}

ssize_t weft_write_until(int fd, const void *buf, size_t bytes,
			 int64_t deadline)
{
	const struct iovec iov = { (void *)(uintptr_t)buf, bytes };

	return weft_writev_until(fd, &iov, 1, deadline);
}

ssize_t weft_write(int fd, const void *buf, size_t bytes)
{
	return weft_write_until(fd, buf, bytes, WEFT_FOREVER);
}
