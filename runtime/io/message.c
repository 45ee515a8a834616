/* SPDX-License-Identifier: MIT */
/* io/message.c - sends and receives on sockets */
#include <errno.h>

#include "io/call.h"
#include "os/call/descriptor.h"
#include "weft/net.h"

static int64_t deadline_of(int flags, int64_t deadline)
{
	return flags & MSG_DONTWAIT ? WEFT_NO_WAIT : deadline;
}

/*
 * ALL for urgent data and the like: another thread's EAGAIN says nothing about these.
 */
static enum wefti_side_mode read_mode(int flags)
{
	return flags & (MSG_OOB | MSG_ERRQUEUE | MSG_PEEK) ? WEFTI_SIDE_ALL :
							     WEFTI_SIDE_ONE;
}

struct receiving {
	char *buf;
	size_t bytes, done;
	int flags;
	struct sockaddr *from;
	socklen_t *from_bytes;
};

static ssize_t do_recv(const struct wefti_call *call, void *arg)
{
	struct receiving *r = arg;
	int all = r->flags & MSG_WAITALL;
	ssize_t n;

	do {
		n = wefti_os_fd_recv(call->use.fd, r->buf + r->done,
				     r->bytes - r->done,
				     (r->flags & ~MSG_WAITALL) | MSG_DONTWAIT,
				     r->from, r->from_bytes);
		if (n < 0)
			return n;
		r->done += (size_t)n;
	} while (all && n > 0 && r->done < r->bytes);
	return all ? 0 : n;	/* MSG_TRUNC: n may exceed the room */
}

ssize_t weft_recvfrom_until(int fd, void *buf, size_t bytes, int flags,
			    struct sockaddr *from, socklen_t *from_bytes,
			    int64_t deadline)
{
	struct receiving r = {
		.buf = buf, .bytes = bytes, .flags = flags, .from = from,
		.from_bytes = from_bytes,
	};
	ssize_t n;

	/* Peeked data comes again: such a call cannot go on to the next. */
	if (flags & MSG_PEEK)
		r.flags &= ~MSG_WAITALL;
	n = wefti_call_do(fd, WEFTI_READ_SIDE, read_mode(flags), do_recv, &r,
			  deadline_of(flags, deadline));
	if (!(r.flags & MSG_WAITALL))
		return n;
	return n < 0 && r.done == 0 ? n : (ssize_t)r.done;
}

ssize_t weft_recvfrom(int fd, void *buf, size_t bytes, int flags,
		      struct sockaddr *from, socklen_t *from_bytes)
{
	return weft_recvfrom_until(fd, buf, bytes, flags, from, from_bytes,
				   WEFT_FOREVER);
}

ssize_t weft_recv_until(int fd, void *buf, size_t bytes, int flags,
			int64_t deadline)
{
	return weft_recvfrom_until(fd, buf, bytes, flags, NULL, NULL,
				   deadline);
}

ssize_t weft_recv(int fd, void *buf, size_t bytes, int flags)
{
	return weft_recv_until(fd, buf, bytes, flags, WEFT_FOREVER);
}

struct sending {
	const char *buf;
	size_t bytes, done;
	int flags;
	const struct sockaddr *to;
	socklen_t to_bytes;
};

static ssize_t do_send(const struct wefti_call *call, void *arg)
{
	struct sending *s = arg;

	do {
		ssize_t n = wefti_os_fd_send(call->use.fd, s->buf + s->done,
					     s->bytes - s->done,
					     s->flags | MSG_DONTWAIT, s->to,
					     s->to_bytes);

		if (n < 0)
			return n;
		s->done += (size_t)n;
	} while (s->done < s->bytes);
	return 0;
}

ssize_t weft_sendto_until(int fd, const void *buf, size_t bytes, int flags,
			  const struct sockaddr *to, socklen_t to_bytes,
			  int64_t deadline)
{
	struct sending s = {
		.buf = buf, .bytes = bytes, .flags = flags, .to = to,
		.to_bytes = to_bytes,
	};
	ssize_t error = wefti_call_do(fd, WEFTI_WRITE_SIDE, WEFTI_SIDE_ALL,
				      do_send, &s,
				      deadline_of(flags, deadline));

	return error && s.done == 0 ? error : (ssize_t)s.done;
}

ssize_t weft_sendto(int fd, const void *buf, size_t bytes, int flags,
		    const struct sockaddr *to, socklen_t to_bytes)
{
	return weft_sendto_until(fd, buf, bytes, flags, to, to_bytes,
				 WEFT_FOREVER);
}

ssize_t weft_send_until(int fd, const void *buf, size_t bytes, int flags,
			int64_t deadline)
{
	return weft_sendto_until(fd, buf, bytes, flags, NULL, 0, deadline);
}

ssize_t weft_send(int fd, const void *buf, size_t bytes, int flags)
{
	return weft_send_until(fd, buf, bytes, flags, WEFT_FOREVER);
}

struct message {
	struct msghdr *msg;
	int flags;
};

static ssize_t do_recvmsg(const struct wefti_call *call, void *arg)
{
	const struct message *m = arg;

	return wefti_os_fd_recvmsg(call->use.fd, m->msg,
				   m->flags | MSG_DONTWAIT);
}

static ssize_t do_sendmsg(const struct wefti_call *call, void *arg)
{
	const struct message *m = arg;

	return wefti_os_fd_sendmsg(call->use.fd, m->msg,
				   m->flags | MSG_DONTWAIT);
}

ssize_t weft_recvmsg_until(int fd, struct msghdr *msg, int flags,
			   int64_t deadline)
{
	struct message m = { msg, flags };

	if (flags & MSG_WAITALL)
		return -EINVAL;
	return wefti_call_do(fd, WEFTI_READ_SIDE, read_mode(flags), do_recvmsg,
			     &m, deadline_of(flags, deadline));
}

ssize_t weft_recvmsg(int fd, struct msghdr *msg, int flags)
{
	return weft_recvmsg_until(fd, msg, flags, WEFT_FOREVER);
}

ssize_t weft_sendmsg_until(int fd, const struct msghdr *msg, int flags,
			   int64_t deadline)
{
	struct message m = { (struct msghdr *)(uintptr_t)msg, flags };

	return wefti_call_do(fd, WEFTI_WRITE_SIDE, WEFTI_SIDE_ALL, do_sendmsg,
			     &m, deadline_of(flags, deadline));
}

ssize_t weft_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	return weft_sendmsg_until(fd, msg, flags, WEFT_FOREVER);
}
