/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/connect.c - connect()
 *
 * The only way to connect without waiting is the open file's own O_NONBLOCK. It is set
 * for that one system call. An unconnected socket has no other user that could notice.
 */
#include <errno.h>

#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/fd_table.h"
#include "pthread/wait/fd_wait.h"

static int fail(int error)
{
	errno = error;
	return -1;
}

/* EINPROGRESS: the connect has begun. EAGAIN: a full queue, which no event reports. */
static int try(int fd, __CONST_SOCKADDR_ARG to, socklen_t length)
{
	int flags = REAL(fcntl)(fd, F_GETFL), error;

	if (flags < 0 || REAL(fcntl)(fd, F_SETFL, flags | O_NONBLOCK) != 0)
		return EAGAIN;
	error = REAL(connect)(fd, to, length) == 0 ? 0 : errno;
	(void)!REAL(fcntl)(fd, F_SETFL, flags);
	return error;
}

/*
 * As in the kernel, at the deadline the connect goes on without the caller, and the next
 * call waits for it again. `late`: this is that next call. The connect() at the end makes
 * the socket note that it is connected, as a waiting call would have.
 */
static int finish(int fd, __CONST_SOCKADDR_ARG to, socklen_t length, int late)
{
	struct wefti_pt_limit limit = { 0 };
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	for (;;) {
		struct wefti_edges before = wefti_pt_fd_edges(fd);
		int error;

		wefti_pt_limit_try(&limit);
		if (wefti_pt_poll_now(&p, 1) != 0)
			return REAL(connect)(fd, to, length);
		error = wefti_pt_socket_wait(fd, POLLOUT, before, &limit);
		if (error)
			return fail(error == EAGAIN ? late : error);
	}
}

EXPORT int connect(int fd, __CONST_SOCKADDR_ARG to, socklen_t length)
{
	int saved = errno, error;

	if (!wefti_pt_green() || wefti_pt_fd_is_nonblocking(fd))
		return REAL(connect)(fd, to, length);
	wefti_cancel_point();
	error = try(fd, to, length);
	errno = saved;
	if (error == EINPROGRESS || error == EALREADY)
		return finish(fd, to, length, error);
	if (error != EAGAIN)
		return error ? fail(error) : 0;
	wefti_region_begin_call(WEFTI_ENDS);
	return (int)wefti_region_end_point(REAL(connect)(fd, to, length));
}
SECOND_NAME(connect, __connect);
