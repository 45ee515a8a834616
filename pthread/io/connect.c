/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/connect.c - connect()
 *
 * There is no flag for not waiting but the open file's own. It is set for the
 * time of the one system call: an unconnected socket has no other user whom
 * that could surprise.
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

/* EINPROGRESS: it was begun. EAGAIN: a full queue, which nobody tells of. */
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
 * As in the kernel: at the deadline it goes on without us, and the next call waits
 * for it again. `late` says which of both this is. The last call has the socket
 * take note of the end, as a call that waited would have.
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
	int saved = errno, error, r;

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
	r = REAL(connect)(fd, to, length);
	wefti_region_end_call();
	if (r < 0)
		wefti_cancel_point();
	return r;
}
SECOND_NAME(connect, __connect);
