/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/io.c - calls on descriptors that may have to wait
 *
 * Each call is first tried in a way that does not block. If the kernel says "not now",
 * and the program has not asked for that answer (O_NONBLOCK), the thread waits until the
 * descriptor is ready and tries again. Some descriptors cannot be tried (terminals, some
 * files): there the call blocks in the kernel, in a region. Sockets are tried by the
 * calls for sockets, which cost a third less.
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/span.h"
#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/io/disk.h"
#include "pthread/io/io.h"
#include "pthread/io/plain.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/fd_table.h"
#include "pthread/wait/fd_wait.h"
#include "syscall.h"

/* The descriptor is no longer a socket, or the calls for sockets are not available. */
static int is_no_socket(int fd)
{
	if (errno == ENOTSOCK)
		wefti_pt_fd_forget(fd);
	return errno == ENOTSOCK || wefti_os_is_missing(-errno);
}

/* --- descriptors that cannot be tried ------------------------------ */

/*
 * Descriptors without name and type (eventfd(), timerfd_create(), ...) refuse at once a
 * buffer shorter than a number. A call with 0 bytes is done at once.
 */
static int is_too_short(int fd, size_t bytes)
{
	struct stat st;
	int saved = errno, is_nameless;

	if (bytes >= sizeof(uint64_t))
		return 0;
	is_nameless = fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == 0;
	errno = saved;
	return bytes == 0 || is_nameless;
}

/*
 * The thread parks until fd is ready, as for other descriptors. Then the call may block.
 */
static int wait_untried(int fd, short events, struct wefti_pt_limit *limit)
{
	struct pollfd p = { .fd = fd, .events = events };
	int error = 0;

	while (!error && !wefti_pt_fd_is_nonblocking(fd)) {
		struct wefti_edges before = wefti_pt_fd_edges(fd);

		wefti_pt_limit_try(limit);
		if (wefti_pt_poll_now(&p, 1) != 0)
			break;
		error = wefti_pt_socket_wait(fd, events, before, limit);
	}
	return error;
}

/* --- reading ------------------------------------------------------- */

/*
 * A read of a terminal may end with nothing to read, and stops a process in the
 * background.
 */
static int reads_at_once(int fd, const struct iovec *iov, int count)
{
	int saved = errno, is_terminal = isatty(fd);

	errno = saved;
	return is_terminal || wefti_pt_fd_is_file(fd) ||
	       is_too_short(fd, wefti_span(iov, count).left);
}

static ssize_t read_untried(int fd, const struct iovec *iov, int count)
{
	struct wefti_pt_limit limit = { 0 };
	int error = reads_at_once(fd, iov, count) ? 0 :
		    wait_untried(fd, POLLIN, &limit);

	if (error)
		return wefti_pt_result(-error);
	return wefti_pt_read_waiting(fd, iov, count, -1, 0);
}

EXPORT ssize_t readv(int fd, const struct iovec *iov, int count)
{
	struct wefti_pt_limit limit = { 0 };
	ssize_t r;

	if (!wefti_pt_green())
		return REAL(readv)(fd, iov, count);
	wefti_cancel_point();
	if (unlikely(wefti_pt_fd_past_memory(fd) & O_DIRECT) &&
	    wefti_pt_fd_is_file(fd))
		return wefti_pt_read_waiting(fd, iov, count, -1, 0);
	if (unlikely(wefti_pt_waits_for_more(fd, 0)))
		return wefti_pt_read_waiting(fd, iov, count, -1, 0);
	for (;;) {
		struct wefti_edges before = wefti_pt_fd_edges(fd);
		int error;

		wefti_pt_limit_try(&limit);
		r = wefti_pt_try_read(fd, iov, count, -1, 0);
		if (r == -EINVAL)	/* libc's call returns it too, at once */
			return wefti_pt_read_waiting(fd, iov, count, -1, 0);
		if (wefti_pt_cannot_try(r))
			return read_untried(fd, iov, count);
		if ((r > 0 || r == -EAGAIN) && wefti_pt_fd_is_file(fd))
			return wefti_pt_file_read(fd, iov, count, -1, 0, r);
		if (r != -EAGAIN || wefti_pt_fd_is_nonblocking(fd))
			break;
		error = wefti_pt_socket_wait(fd, POLLIN, before, &limit);
		if (error)
			return wefti_pt_result(-error);
	}
	wefti_signals_run_any();
	return wefti_pt_result(r);
}

EXPORT ssize_t read(int fd, void *buf, size_t bytes)
{
	struct iovec iov = { buf, bytes };

	if (!wefti_pt_green())
		return REAL(read)(fd, buf, bytes);
	if (wefti_pt_fd_is(fd, WEFTI_FD_SOCKET) && bytes > 0) {
		int saved = errno;
		ssize_t r = recv(fd, buf, bytes, 0);

		if (r >= 0 || !is_no_socket(fd))
			return r;
		errno = saved;
	}
	return readv(fd, &iov, 1);
}
SECOND_NAME(read, __read);

/* --- writing ------------------------------------------------------- */

/* The result of a write that ended with `r` after `done` bytes. */
static ssize_t written(ssize_t done, ssize_t r)
{
	wefti_signals_run_any();
	return done ? done : wefti_pt_result(r);
}

/* SIGPIPE comes from a pipe in any case, from a socket only if it has taken nothing. */
static ssize_t send_rest(int fd, const struct iovec *iov, int count)
{
	struct msghdr message = {
		.msg_iov = (struct iovec *)(uintptr_t)iov,
		.msg_iovlen = (size_t)count,
	};

	return wefti_arch_syscall(SYS_sendmsg, fd, (long)&message,
				  MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0, 0);
}

static int is_sent(ssize_t r)
{
	return r != -ENOTSOCK && !wefti_os_is_missing(r);
}

static ssize_t rest_now(int fd, const struct iovec *iov, int count, ssize_t done)
{
	ssize_t r = done > 0 ? send_rest(fd, iov, count) : -ENOTSOCK;

	if (is_sent(r))
		return r;
	return wefti_arch_syscall(SYS_pwritev2, fd, (long)iov, count, -1, 0,
				  RWF_NOWAIT);
}

/*
 * A blocking write writes everything, however long that takes. `r` is the result of a
 * first try.
 */
static ssize_t write_rest(int fd, const struct iovec *iov, int count, ssize_t r)
{
	struct wefti_span s = wefti_span(iov, count);
	struct wefti_pt_limit limit = { 0 };
	ssize_t done = 0;

	wefti_pt_limit_try(&limit);
	for (;;) {
		struct wefti_edges before;
		int n, error = 0;

		if (r > 0) {
			done += r;
			wefti_span_advance(&s, (size_t)r);
			wefti_pt_limit_advance(fd, &limit);
		}
		if (s.left == 0 || (r < 0 && r != -EAGAIN) ||
		    wefti_pt_fd_is_nonblocking(fd))
			return written(done, r);
		before = wefti_pt_fd_edges(fd);
		iov = wefti_span_next(&s, &n);
		wefti_pt_limit_try(&limit);
		r = rest_now(fd, iov, n, done);
		if (r == -EAGAIN)
			error = wefti_pt_socket_wait(fd, POLLOUT, before,
						     &limit);
		if (error)
			return done ? done : wefti_pt_result(-error);
	}
}

/* Returns less than nothing where there is an error; -EAGAIN: there was no room. */
static ssize_t write_more_untried(int fd, const struct iovec *iov, int count)
{
	ssize_t r = send_rest(fd, iov, count);

	return is_sent(r) ? r : wefti_pt_plain_write(fd, iov, count, -1, 0);
}

/*
 * The runtime's signals cut short a write that has begun, and the program does not know
 * of them. So the write goes on, unless a handler of the program has run. It waits for
 * room first: in the kernel, a handler with SA_RESTART does not end a write that has
 * written nothing.
 */
static ssize_t write_untried(int fd, const struct iovec *iov, int count)
{
	struct wefti_span s = wefti_span(iov, count);
	struct wefti_pt_limit limit = { 0 };
	int error = is_too_short(fd, s.left) ? 0 :
		    wait_untried(fd, POLLOUT, &limit);
	int n, saved = errno;
	ssize_t done, r;

	if (error)
		return wefti_pt_result(-error);
	wefti_pt_limit_try(&limit);
	r = wefti_pt_plain_write(fd, iov, count, -1, 0);
	if (r <= 0)
		return r;
	for (done = 0; r > 0 || r == -EAGAIN;
	     r = write_more_untried(fd, iov, n)) {
		if (r > 0) {
			done += r;
			wefti_span_advance(&s, (size_t)r);
			wefti_pt_limit_advance(fd, &limit);
		}
		if (s.left == 0 || wefti_pt.handled != limit.handled ||
		    wefti_pt_fd_is_nonblocking(fd))
			break;
		wefti_cancel_point();
		if (wait_untried(fd, POLLOUT, &limit) != 0)
			break;
		iov = wefti_span_next(&s, &n);
	}
	errno = saved;
	return done;
}

EXPORT ssize_t writev(int fd, const struct iovec *iov, int count)
{
	ssize_t r;

	if (!wefti_pt_green())
		return REAL(writev)(fd, iov, count);
	wefti_cancel_point();
	if (wefti_pt_fd_is_file(fd))
		return wefti_pt_file_write(fd, iov, count, -1, 0);
	r = wefti_arch_syscall(SYS_pwritev2, fd, (long)iov, count, -1, 0,
			       RWF_NOWAIT);
	if (r == -EINVAL)	/* libc's call returns it too, at once */
		return REAL(writev)(fd, iov, count);
	if (wefti_pt_cannot_try(r))
		return write_untried(fd, iov, count);
	if (r > 0 || r == -EAGAIN)
		return write_rest(fd, iov, count, r);
	return written(0, r);
}

EXPORT ssize_t write(int fd, const void *buf, size_t bytes)
{
	struct iovec iov = { (void *)(uintptr_t)buf, bytes };

	if (!wefti_pt_green())
		return REAL(write)(fd, buf, bytes);
	if (wefti_pt_fd_is(fd, WEFTI_FD_SOCKET)) {
		int saved = errno;
		ssize_t r = send(fd, buf, bytes, 0);

		if (r >= 0 || !is_no_socket(fd))
			return r;
		errno = saved;
	}
	return writev(fd, &iov, 1);
}
SECOND_NAME(write, __write);
