/* SPDX-License-Identifier: MIT */
/* pthread/io/socket.c - calls on sockets that may have to wait; see io.c */
#include <errno.h>
#include <sys/syscall.h>

#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/fd_table.h"
#include "pthread/wait/fd_wait.h"
#include "syscall.h"

/*
 * Does not use libc's function: that allows a cancellation in the middle, by two
 * compare-and-swaps, although this call does not wait.
 */
static ssize_t receive_now(int fd, void *buf, size_t bytes, int flags,
			   __SOCKADDR_ARG from, socklen_t *length)
{
	return wefti_pt_result(wefti_arch_syscall(SYS_recvfrom, fd, (long)buf,
			(long)bytes, flags | MSG_DONTWAIT,
			(long)from.__sockaddr__, (long)length));
}

/* A call that is tried, without blocking, until its answer is not "not now". */
struct tries {
	int fd;
	short events;		/* what it waits for in between */
	int at_once;		/* "not now" is an answer for the caller */
	int saved;		/* errno, which a try that is not the last changes */
	struct wefti_pt_limit *limit;
	struct wefti_edges before;
};

static inline struct tries tries_of(int fd, short events, int at_once,
				    struct wefti_pt_limit *limit)
{
	return (struct tries){
		.fd = fd, .events = events, .at_once = at_once, .saved = errno,
		.limit = limit,
	};
}

static inline void begin_try(struct tries *t)
{
	t->before = wefti_pt_fd_edges(t->fd);
	wefti_pt_limit_try(t->limit);
}

/* After a try with the result r. Returns 0 if r is the call's result, with errno. */
static inline int is_again(const struct tries *t, ssize_t r)
{
	int error;

	if (r >= 0 || errno != EAGAIN || t->at_once ||
	    wefti_pt_fd_is_nonblocking(t->fd)) {
		wefti_signals_run_any();
		return 0;
	}
	error = wefti_pt_socket_wait(t->fd, t->events, t->before, t->limit);
	errno = error ? error : t->saved;
	return !error;
}

EXPORT ssize_t recvfrom(int fd, void *buf, size_t bytes, int flags,
			__SOCKADDR_ARG from, socklen_t *length)
{
	struct wefti_pt_limit limit = { 0 };
	struct tries t = tries_of(fd, POLLIN, flags & WEFTI_RECV_AT_ONCE, &limit);
	ssize_t r;

	if (!wefti_pt_green())
		return REAL(recvfrom)(fd, buf, bytes, flags, from, length);
	if (wefti_pt_waits_for_more(fd, flags)) {
		wefti_region_begin_point(WEFTI_ENDS);
		return wefti_region_end_point(
			REAL(recvfrom)(fd, buf, bytes, flags, from, length));
	}
	wefti_cancel_point();
	do {
		begin_try(&t);
		r = receive_now(fd, buf, bytes, flags, from, length);
	} while (is_again(&t, r));
	return r;
}

EXPORT ssize_t recv(int fd, void *buf, size_t bytes, int flags)
{
	if (!wefti_pt_green())
		return REAL(recv)(fd, buf, bytes, flags);
	return recvfrom(fd, buf, bytes, flags, NULL, NULL);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	struct wefti_pt_limit limit = { 0 };
	struct tries t = tries_of(fd, POLLIN, flags & WEFTI_RECV_AT_ONCE, &limit);
	ssize_t r;

	if (!wefti_pt_green())
		return REAL(recvmsg)(fd, message, flags);
	if (wefti_pt_waits_for_more(fd, flags)) {
		wefti_region_begin_point(WEFTI_ENDS);
		return wefti_region_end_point(
			REAL(recvmsg)(fd, message, flags));
	}
	wefti_cancel_point();
	do {
		begin_try(&t);
		r = REAL(recvmsg)(fd, message, flags | MSG_DONTWAIT);
	} while (is_again(&t, r));
	return r;
}

/*
 * SIGPIPE would go to the carrier. The thread gets it instead. A socket that is no stream
 * returns only EPIPE.
 */
static ssize_t sent(int fd, ssize_t r, int flags)
{
	if (r < 0 && errno == EPIPE && !(flags & MSG_NOSIGNAL)) {
		if (wefti_pt_socket_option(fd, SO_TYPE) == SOCK_STREAM)
			(void)!pthread_kill(pthread_self(), SIGPIPE);
		errno = EPIPE;
	}
	return r;
}

#define QUIET(flags)	((flags) | MSG_DONTWAIT | MSG_NOSIGNAL)

static ssize_t send_now(int fd, const void *buf, size_t bytes, int flags,
			__CONST_SOCKADDR_ARG to, socklen_t length)
{
	return wefti_pt_result(wefti_arch_syscall(SYS_sendto, fd, (long)buf,
			(long)bytes, QUIET(flags), (long)to.__sockaddr__,
			(long)length));
}

static ssize_t send_some(int fd, const void *buf, size_t bytes, int flags,
			 __CONST_SOCKADDR_ARG to, socklen_t length,
			 struct wefti_pt_limit *limit)
{
	struct tries t = tries_of(fd, POLLOUT, flags & MSG_DONTWAIT, limit);
	ssize_t r;

	wefti_cancel_point();
	do {
		begin_try(&t);
		r = send_now(fd, buf, bytes, flags, to, length);
	} while (is_again(&t, r));
	return r;
}

/* With MSG_FASTOPEN the send connects too. */
static ssize_t send_first(int fd, const struct msghdr *message, int flags)
{
	wefti_region_begin_point(WEFTI_ENDS);
	return wefti_region_end_point(
		REAL(sendmsg)(fd, message, flags | MSG_NOSIGNAL));
}

/* A blocking send on a stream sends everything. */
static ssize_t send_all(int fd, const void *buf, size_t bytes, int flags,
			__CONST_SOCKADDR_ARG to, socklen_t length,
			struct wefti_pt_limit *limit)
{
	size_t done = 0;

	for (;;) {
		ssize_t r = send_some(fd, (const char *)buf + done,
				      bytes - done, flags, to, length, limit);

		if (r < 0)
			return done ? (ssize_t)done : r;
		done += (size_t)r;
		if (done >= bytes || (flags & MSG_DONTWAIT) ||
		    wefti_pt_fd_is_nonblocking(fd))
			return (ssize_t)done;
		wefti_pt_limit_advance(fd, limit);
	}
}

EXPORT ssize_t sendto(int fd, const void *buf, size_t bytes, int flags,
		      __CONST_SOCKADDR_ARG to, socklen_t length)
{
	struct wefti_pt_limit limit = { 0 };

	if (!wefti_pt_green())
		return REAL(sendto)(fd, buf, bytes, flags, to, length);
	if (unlikely(flags & MSG_FASTOPEN)) {
		struct iovec iov = { (void *)(uintptr_t)buf, bytes };
		struct msghdr message = {
			.msg_name = (void *)(uintptr_t)to.__sockaddr__,
			.msg_namelen = length,
			.msg_iov = &iov,
			.msg_iovlen = 1,
		};

		return sendmsg(fd, &message, flags);
	}
	return sent(fd, send_all(fd, buf, bytes, flags, to, length, &limit),
		    flags);
}

EXPORT ssize_t send(int fd, const void *buf, size_t bytes, int flags)
{
	if (!wefti_pt_green())
		return REAL(send)(fd, buf, bytes, flags);
	return sendto(fd, buf, bytes, flags, NULL, 0);
}
SECOND_NAME(send, __send);

static ssize_t send_message(int fd, const struct msghdr *message, int flags,
			    struct wefti_pt_limit *limit)
{
	struct tries t = tries_of(fd, POLLOUT, flags & MSG_DONTWAIT, limit);
	ssize_t r;

	wefti_cancel_point();
	do {
		begin_try(&t);
		r = REAL(sendmsg)(fd, message, QUIET(flags));
	} while (is_again(&t, r));
	return r;
}

/* Sends the rest of a message that was sent in part. */
static ssize_t send_rest(int fd, const struct msghdr *message, size_t done,
			 int flags, struct wefti_pt_limit *limit)
{
	size_t skip = done;

	for (size_t i = 0; i < message->msg_iovlen; i++) {
		const struct iovec *v = &message->msg_iov[i];
		ssize_t r;

		if (skip >= v->iov_len) {
			skip -= v->iov_len;
			continue;
		}
		r = send_all(fd, (char *)v->iov_base + skip, v->iov_len - skip,
			     flags, NULL, 0, limit);
		if (r < 0)
			break;
		done += (size_t)r;
		if ((size_t)r < v->iov_len - skip)
			break;
		skip = 0;
	}
	return (ssize_t)done;
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct wefti_pt_limit limit = { 0 };
	ssize_t r;
	size_t bytes = 0;

	if (!wefti_pt_green())
		return REAL(sendmsg)(fd, message, flags);
	if (unlikely(flags & MSG_FASTOPEN))
		return sent(fd, send_first(fd, message, flags), flags);
	r = sent(fd, send_message(fd, message, flags, &limit), flags);
	if (r < 0 || (flags & MSG_DONTWAIT))
		return r;
	for (size_t i = 0; i < message->msg_iovlen; i++)
		bytes += message->msg_iov[i].iov_len;
	if ((size_t)r >= bytes || wefti_pt_fd_is_nonblocking(fd))
		return r;
	wefti_pt_limit_advance(fd, &limit);
	return send_rest(fd, message, (size_t)r, flags, &limit);
}

/* Wrong arguments are reported at once, and by the kernel. */
static int can_accept(int fd, int flags)
{
	return !(flags & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) &&
	       wefti_pt_socket_option(fd, SO_ACCEPTCONN) == 1;
}

/* accept() has no flag for not waiting. poll() is asked first; another may be faster. */
EXPORT int accept4(int fd, __SOCKADDR_ARG from, socklen_t *length, int flags)
{
	struct wefti_pt_limit limit = { 0 };
	int r;

	if (!wefti_pt_green() || wefti_pt_fd_is_nonblocking(fd))
		return wefti_pt_fd_made_socket(
			REAL(accept4)(fd, from, length, flags));
	wefti_cancel_point();
	for (;;) {
		struct wefti_edges before = wefti_pt_fd_edges(fd);
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int error;

		wefti_pt_limit_try(&limit);
		if (wefti_pt_poll_now(&p, 1) != 0 ||
		    (limit.begun == 0 && !can_accept(fd, flags)))
			break;
		error = wefti_pt_socket_wait(fd, POLLIN, before, &limit);
		if (error) {
			errno = error;
			return -1;
		}
	}
	wefti_region_begin_call(WEFTI_ENDS);
	r = (int)wefti_region_end_point(REAL(accept4)(fd, from, length, flags));
	wefti_signals_run_any();
	return wefti_pt_fd_made_socket(r);
}

EXPORT int accept(int fd, __SOCKADDR_ARG from, socklen_t *length)
{
	if (!wefti_pt_green())
		return wefti_pt_fd_made_socket(
			REAL(accept)(fd, from, length));
	return accept4(fd, from, length, 0);
}
