/* SPDX-License-Identifier: MIT */
/*
 * explore/send.c - what writes to pipes, sockets and terminals: the others run while it waits
 *
 * poll(2) says that a part of the data can be written, or perhaps that a message can. So the
 * call does not wait, and what is left of the data is written with the next turn. A
 * descriptor that is no socket does not wait for the time of a call. Up to PIPE_BUF bytes are
 * written to a pipe at once, as POSIX has it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "descriptor.h"
#include "real.h"

/* What is left of the data: the rest of one piece, and then pieces. */
struct left {
	struct iovec piece;
	struct iovec *pieces;
	size_t n;
};

static size_t bytes_of(const struct iovec *pieces, size_t n)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += pieces[i].iov_len;
	return bytes;
}

static void take_out(struct left *l, size_t bytes)
{
	if (l->piece.iov_len) {
		l->piece.iov_base = (char *)l->piece.iov_base + bytes;
		l->piece.iov_len -= bytes;
		return;
	}
	while (l->n && bytes >= l->pieces->iov_len) {
		bytes -= l->pieces->iov_len;
		l->pieces++;
		l->n--;
	}
	if (!bytes)
		return;
	l->piece.iov_base = (char *)l->pieces->iov_base + bytes;
	l->piece.iov_len = l->pieces->iov_len - bytes;
	l->pieces++;
	l->n--;
}

static int is_socket(int fd)
{
	struct stat st;
	const int kept = errno;
	const int is = fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);

	errno = kept;
	return is;
}

/* One part. message: with an address and control data, or NULL; its data are those left. */
static ssize_t put_some(int fd, const struct left *l, const struct msghdr *message, int flags)
{
	const struct iovec *pieces = l->piece.iov_len ? &l->piece : l->pieces;
	const size_t n = l->piece.iov_len ? 1 : l->n;
	struct msghdr m = { 0 };
	ssize_t bytes;
	int modes;

	if (is_socket(fd)) {
		m = message ? *message : m;
		m.msg_iov = (struct iovec *)(uintptr_t)pieces;
		m.msg_iovlen = n;
		return REAL(sendmsg)(fd, &m, flags | MSG_DONTWAIT);
	}
	modes = wefti_ex_no_waits(fd);
	bytes = REAL(writev)(fd, pieces, (int)n);
	wefti_ex_waits_again(fd, modes);
	return bytes;
}

/* Control data goes with the first part alone. An error behind it is the next call's. */
static ssize_t put_all(int fd, const struct msghdr *message, int flags, const void *where)
{
	struct left l = { .pieces = message->msg_iov, .n = message->msg_iovlen };
	const size_t bytes = bytes_of(l.pieces, l.n);
	struct msghdr m = *message;
	size_t done = 0;
	ssize_t n;

	do {
		if (wefti_ex_wait_for_one(fd, POLLOUT, 0, WEFTI_EX_OUT, where) < 0)
			return done ? (ssize_t)done : -1;
		wefti_ex_wrote();
		n = wefti_ex_tried(put_some(fd, &l, &m, flags));
		if (n <= 0)
			continue;
		done += (size_t)n;
		take_out(&l, (size_t)n);
		m.msg_control = NULL;
		m.msg_controllen = 0;
	} while (n < 0 ? errno == EAGAIN : done < bytes);
	return done ? (ssize_t)done : n;
}

/* Does the call wait, and may one look of poll() not be enough for it? */
static int needs_parts(int fd, size_t bytes, int flags)
{
	return wefti_ex_controlled() && !(flags & MSG_DONTWAIT) && wefti_ex_may_block(fd) &&
	       (bytes > PIPE_BUF || is_socket(fd));
}

static ssize_t put_pieces(int fd, struct iovec *pieces, size_t n, const void *where)
{
	const struct msghdr m = { .msg_iov = pieces, .msg_iovlen = n };

	return put_all(fd, &m, 0, where);
}

EXPORT ssize_t write(int fd, const void *from, size_t bytes)
{
	struct iovec one = { (void *)(uintptr_t)from, bytes };

	if (needs_parts(fd, bytes, 0))
		return put_pieces(fd, &one, 1, CALLER);
	if (wefti_ex_wait_for_one(fd, POLLOUT, 0, WEFTI_EX_OUT, CALLER) < 0)
		return -1;
	wefti_ex_wrote();
	return wefti_ex_tried(REAL(write)(fd, from, bytes));
}

/* A number of pieces that is an error is the call's to tell. */
EXPORT ssize_t writev(int fd, const struct iovec *from, int n)
{
	if (n > 0 && n <= IOV_MAX && wefti_ex_controlled() &&
	    needs_parts(fd, bytes_of(from, (size_t)n), 0))
		return put_pieces(fd, (struct iovec *)(uintptr_t)from, (size_t)n, CALLER);
	if (wefti_ex_wait_for_one(fd, POLLOUT, 0, WEFTI_EX_OUT, CALLER) < 0)
		return -1;
	wefti_ex_wrote();
	return wefti_ex_tried(REAL(writev)(fd, from, n));
}

EXPORT ssize_t sendto(int fd, const void *from, size_t bytes, int flags,
		      const struct sockaddr *to, socklen_t length)
{
	struct iovec one = { (void *)(uintptr_t)from, bytes };
	const struct msghdr m = { .msg_name = (void *)(uintptr_t)to, .msg_namelen = length,
				  .msg_iov = &one, .msg_iovlen = 1 };

	if (needs_parts(fd, bytes, flags))
		return put_all(fd, &m, flags, CALLER);
	if (wefti_ex_wait_for_one(fd, POLLOUT, flags, WEFTI_EX_OUT, CALLER) < 0)
		return -1;
	wefti_ex_wrote();
	return wefti_ex_tried(REAL(sendto)(fd, from, bytes, flags, to, length));
}

EXPORT ssize_t send(int fd, const void *from, size_t bytes, int flags)
{
	struct iovec one = { (void *)(uintptr_t)from, bytes };
	const struct msghdr m = { .msg_iov = &one, .msg_iovlen = 1 };

	if (needs_parts(fd, bytes, flags))
		return put_all(fd, &m, flags, CALLER);
	if (wefti_ex_wait_for_one(fd, POLLOUT, flags, WEFTI_EX_OUT, CALLER) < 0)
		return -1;
	wefti_ex_wrote();
	return wefti_ex_tried(REAL(send)(fd, from, bytes, flags));
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	if (message && needs_parts(fd, 0, flags) && message->msg_iovlen <= IOV_MAX)
		return put_all(fd, message, flags, CALLER);
	if (wefti_ex_wait_for_one(fd, POLLOUT, flags, WEFTI_EX_OUT, CALLER) < 0)
		return -1;
	wefti_ex_wrote();
	return wefti_ex_tried(REAL(sendmsg)(fd, message, flags));
}
