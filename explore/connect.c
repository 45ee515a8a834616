/* SPDX-License-Identifier: MIT */
/*
 * explore/connect.c - connect(): the thread has given its turn away until there is an answer
 *
 * The call is made on a socket that does not wait, which it is for the time of the call. A
 * socket of AF_UNIX is tried again while the other end's queue is full. Another one is
 * connected when poll() says that it can be written.
 */
#include "explore.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "descriptor.h"
#include "real.h"

struct call {
	int fd;
	const struct sockaddr *address;
	socklen_t bytes;
	int error;		/* of the last try; EAGAIN: none has begun a connection */
};

/* Another thread may have made it for the one that waits. */
static int is_done(void *arguments)
{
	struct call *c = arguments;
	const int kept = errno;
	int modes;

	if (c->error != EAGAIN)
		return 1;
	modes = wefti_ex_no_waits(c->fd);
	c->error = REAL(connect)(c->fd, c->address, c->bytes) == 0 ? 0 : errno;
	wefti_ex_waits_again(c->fd, modes);
	errno = kept;
	return c->error != EAGAIN;
}

static int poll_now(void *fd)
{
	return REAL(poll)(fd, 1, 0);
}

/* Returns the error of a connection that was begun, or 0. */
static int await_answer(int fd, const void *where)
{
	struct pollfd one = { .fd = fd, .events = POLLOUT };
	socklen_t bytes = sizeof(int);
	int error = 0;

	if (wefti_ex_wait_restarted(&(struct wefti_ex_try){ poll_now, &one }, &one, 1,
				WEFTI_EX_NEVER, WEFTI_EX_CONNECT, where) < 0)
		return EINTR;	/* it goes on, as POSIX says */
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) ? errno : error;
}

EXPORT int connect(int fd, const struct sockaddr *address, socklen_t bytes)
{
	struct call c = { fd, address, bytes, EAGAIN };
	const int flags = REAL(fcntl)(fd, F_GETFL);

	if (!wefti_ex_controlled() || flags < 0 || (flags & O_NONBLOCK))
		return REAL(connect)(fd, address, bytes);
	if (wefti_ex_wait_restarted(&(struct wefti_ex_try){ is_done, &c }, NULL, 0,
				WEFTI_EX_NEVER, WEFTI_EX_CONNECT, CALLER) < 0)
		return -1;
	if (c.error == EINPROGRESS)
		c.error = await_answer(fd, CALLER);
	if (c.error)
		errno = c.error;
	return c.error ? -1 : 0;
}
