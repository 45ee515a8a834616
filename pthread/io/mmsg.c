/* SPDX-License-Identifier: MIT */
/* pthread/io/mmsg.c - several messages of a socket by one call; see socket.c */
#include <errno.h>
#include <limits.h>

#include "pthread/core/real.h"
#include "pthread/core/time.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/fd_wait.h"

/* recvmmsg() of the messages that are there. */
static int receive_some(int fd, struct mmsghdr *to, unsigned count, int flags,
			int64_t end)
{
	struct timespec rest, *time = NULL;

	if (end != INT64_MAX) {
		rest = wefti_time_rest(end);
		time = &rest;
	}
	return REAL(recvmmsg)(fd, to, count, flags | MSG_DONTWAIT, time);
}

/*
 * Returns 1 if there is more, 0 if not, -1 if the next receive would report an error. The
 * error would be lost behind the messages that were received. An entry in the socket's
 * queue of errors looks the same.
 */
static int has_more(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n = wefti_pt_poll_now(&p, 1);

	return p.revents & POLLERR ? -1 : n;
}

/*
 * Receives until there are `count` messages. Returns an errno value, or 0 if all are
 * there or the flags say that it is enough. As in Linux, the timeout is checked only
 * after a message. The socket's own timeout is for each message.
 */
static int receive(int fd, struct mmsghdr *to, unsigned count, int flags,
		   int64_t end, unsigned *done)
{
	struct wefti_pt_limit limit = { 0 };

	while (*done < count) {
		struct wefti_edges before = wefti_pt_fd_edges(fd);
		int error, n, more = *done == 0 ? 1 : has_more(fd);

		if (more < 0)
			return 0;
		wefti_pt_limit_try(&limit);
		n = !more ? 0 : receive_some(fd, to + *done, count - *done,
					     flags, end);
		if (n > 0) {
			*done += (unsigned)n;
			if ((flags & (MSG_WAITFORONE | WEFTI_RECV_AT_ONCE)) ||
			    end <= wefti_os_now_ns())
				return 0;
			limit = (struct wefti_pt_limit){
				.handled = limit.handled, .is_partial = 1
			};
			continue;
		}
		if (n < 0 && errno != EAGAIN)
			return errno;
		if ((flags & WEFTI_RECV_AT_ONCE) ||
		    wefti_pt_fd_is_nonblocking(fd))
			return EAGAIN;
		error = wefti_pt_socket_wait(fd, POLLIN, before, &limit);
		if (error)
			return error;
	}
	return 0;
}

EXPORT int recvmmsg(int fd, struct mmsghdr *to, unsigned count, int flags,
		    struct timespec *time)
{
	int64_t end = INT64_MAX;
	int saved = errno, error;
	unsigned done = 0;

	if (!wefti_pt_green() || count == 0 ||
	    (time && !wefti_time_is_kernels(time)))
		return REAL(recvmmsg)(fd, to, count, flags, time);
	wefti_cancel_point();
	if (time)
		end = wefti_time_after(wefti_time_ns(time));
	if (wefti_pt_waits_for_more(fd, flags)) {
		int n;

		wefti_region_begin_call(WEFTI_ENDS);
		n = REAL(recvmmsg)(fd, to, count, flags, time);
		wefti_region_end_call();
		if (n < 0)
			wefti_cancel_point();
		return n;
	}
	error = receive(fd, to, count, flags, end, &done);
	wefti_signals_run_any();
	errno = saved;
	if (done == 0 && error) {
		errno = error;
		return -1;
	}
	if (time)
		*time = wefti_time_rest(end);
	return (int)done;
}

/* An error is reported only if it is at the first message. */
EXPORT int sendmmsg(int fd, struct mmsghdr *from, unsigned count, int flags)
{
	int saved = errno;

	if (!wefti_pt_green() || count == 0)
		return REAL(sendmmsg)(fd, from, count, flags);
	if (count > IOV_MAX)
		count = IOV_MAX;
	for (unsigned i = 0; i < count; i++) {
		ssize_t r = sendmsg(fd, &from[i].msg_hdr, flags);

		if (r < 0 && i > 0)
			errno = saved;
		if (r < 0)
			return i > 0 ? (int)i : -1;
		from[i].msg_len = (unsigned)r;
	}
	return (int)count;
}
