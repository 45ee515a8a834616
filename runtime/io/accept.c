/* SPDX-License-Identifier: MIT */
/* io/accept.c - accepts and makes connections */
#include <errno.h>

#include "io/call.h"
#include "os/call/clock.h"
#include "os/call/descriptor.h"
#include "weft/net.h"

/* How long a connect rests before it tries again, from ... to, in ns. */
#define REST_FIRST	INT64_C(100000)
#define REST_MOST	INT64_C(20000000)

struct peer {
	struct sockaddr *addr;
	socklen_t *bytes;
};

/*
 * accept has no flag for "do not wait". If several threads see one connection, one gets
 * it, and the others would wait in the kernel. So a listening socket gets O_NONBLOCK at
 * its first accept here.
 */
static ssize_t do_accept(const struct wefti_call *call, void *arg)
{
	const struct peer *p = arg;
	int fd;

	if (!call->nonblocking) {
		if (!wefti_call_is_ready(call, POLLIN))
			return -EAGAIN;
		wefti_os_fd_set_nonblocking(call->use.fd, 1);
	}
	do {
		fd = wefti_os_fd_accept(call->use.fd, p->addr, p->bytes,
					SOCK_NONBLOCK | SOCK_CLOEXEC);
		/* The peer has gone again: there is no connection to give. */
	} while (fd == -ECONNABORTED || fd == -EINTR);
	/* If this fails, the descriptor is treated as if another had made it. */
	if (fd >= 0)
		(void)wefti_fd_made(fd, WEFTI_OS_SOCKET, WEFTI_FD_NONBLOCK);
	return fd;
}

int weft_accept_until(int fd, struct sockaddr *addr, socklen_t *bytes,
		      int64_t deadline)
{
	struct peer p = { addr, bytes };

	return (int)wefti_call_do(fd, WEFTI_READ_SIDE, WEFTI_SIDE_ONE,
				  do_accept, &p, deadline);
}

int weft_accept(int fd, struct sockaddr *addr, socklen_t *bytes)
{
	return weft_accept_until(fd, addr, bytes, WEFT_FOREVER);
}

struct connecting {
	const struct sockaddr *addr;
	socklen_t bytes;
	int64_t deadline;
	int begun;
	int error;
};

/*
 * Only O_NONBLOCK keeps a connect from waiting. The socket has no connection yet that
 * another thread could be using, and the flag is restored before the return.
 */
static int connect_at_once(const struct wefti_call *call,
			   const struct connecting *c)
{
	int fd = call->use.fd, error;
	int blocking = !call->nonblocking &&
		       wefti_os_fd_is_nonblocking(fd) == 0;

	if (blocking)
		wefti_os_fd_set_nonblocking(fd, 1);
	error = wefti_os_fd_connect(fd, c->addr, c->bytes);
	if (blocking)
		wefti_os_fd_set_nonblocking(fd, 0);
	return error;
}

/*
 * Rests before the next try. Returns -ETIMEDOUT after a try that came after the
 * deadline.
 */
static int rest(const struct wefti_call *call, uint32_t edges, int64_t ns,
		int64_t deadline)
{
	int64_t now = wefti_os_now_ns();
	int error;

	if (deadline <= now)
		return -ETIMEDOUT;
	error = wefti_fd_rest(&call->use, call->side, edges,
			      deadline - now < ns ? deadline : now + ns);
	return error == -ETIMEDOUT ? 0 : error;
}

/*
 * The queue of a listening AF_UNIX socket may be full; then nothing has begun. The
 * kernel reports room only to callers that wait in the call. So the call is tried again
 * and again, with the descriptor in use all the time.
 */
static int connect_when_there_is_room(const struct wefti_call *call,
				      const struct connecting *c)
{
	int64_t ns = REST_FIRST;

	for (;;) {
		uint32_t edges = wefti_side_edges(&call->use.entry->sides,
						  call->side);
		int error;

		if (wefti_fd_is_closing(&call->use))
			return -EBADF;	/* of table.c: I3 */
		error = connect_at_once(call, c);
		if (error != -EAGAIN || c->deadline == WEFT_NO_WAIT)
			return error;
		error = rest(call, edges, ns, c->deadline);
		if (error)
			return error;
		ns = ns < REST_MOST / 2 ? 2 * ns : REST_MOST;
	}
}

static ssize_t do_connect(const struct wefti_call *call, void *arg)
{
	struct connecting *c = arg;

	if (c->begun) {
		if (!wefti_call_is_ready(call, POLLOUT))
			return -EAGAIN;
		c->error = wefti_os_fd_socket_error(call->use.fd);
		return 0;
	}
	c->error = connect_when_there_is_room(call, c);
	if (c->error != -EINPROGRESS && c->error != -EALREADY)
		return 0;
	c->begun = 1;
	return -EAGAIN;
}

int weft_connect_until(int fd, const struct sockaddr *addr, socklen_t bytes,
		       int64_t deadline)
{
	struct connecting c = {
		.addr = addr, .bytes = bytes, .deadline = deadline,
	};
	int error = (int)wefti_call_do(fd, WEFTI_WRITE_SIDE, WEFTI_SIDE_ALL,
				       do_connect, &c, deadline);

	return error ? error : c.error;
}

int weft_connect(int fd, const struct sockaddr *addr, socklen_t bytes)
{
	return weft_connect_until(fd, addr, bytes, WEFT_FOREVER);
}
