/* SPDX-License-Identifier: MIT */
/*
 * pthread/io.c - calls on descriptors that may have to wait
 *
 * Each is tried in a way that does not block; where that says "not now" and the
 * descriptor is not one that the program wants that answer of, the thread waits
 * until it is ready and tries again. What cannot be tried so (terminals, some
 * files) blocks in the kernel, in a region. Sockets are tried by the calls for
 * sockets, which cost a third less.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <string.h>

#include "os/signal.h"
#include "pthread/cancel.h"
#include "pthread/fd.h"
#include "pthread/ready.h"
#include "pthread/real.h"
#include "pthread/region.h"
#include "pthread/signal.h"
#include "syscall.h"

#define NOWAIT	0x8	/* RWF_NOWAIT */

/* A result of the kernel as libc gives it. */
static ssize_t result(ssize_t r)
{
	if (r >= 0)
		return r;
	errno = (int)-r;
	return -1;
}

static int cannot_try(ssize_t r)
{
	return r == -EOPNOTSUPP || r == -ENOSYS || r == -EINVAL || r == -ESPIPE;
}

/* --- reading ------------------------------------------------------- */

EXPORT ssize_t readv(int fd, const struct iovec *iov, int count)
{
	ssize_t r;

	if (!wefti_pt_green())
		return REAL(readv)(fd, iov, count);
	wefti_cancel_point();
	for (;;) {
		struct wefti_edges before = wefti_pt_fd_edges(fd);
		int error;

		r = wefti_arch_syscall(SYS_preadv2, fd, (long)iov, count, -1,
				       -1, NOWAIT);
		if (cannot_try(r)) {
			wefti_region_begin();
			r = REAL(readv)(fd, iov, count);
			wefti_region_end();
			wefti_cancel_point();
			return r;
		}
		if (r != -EAGAIN || wefti_pt_fd_is_nonblocking(fd))
			break;
		error = wefti_pt_fd_wait(fd, POLLIN, before, INT64_MAX);
		if (error)
			return result(-error);
	}
	wefti_signals_look();
	return result(r);
}

EXPORT ssize_t read(int fd, void *buf, size_t bytes)
{
	struct iovec iov = { buf, bytes };

	if (!wefti_pt_green())
		return REAL(read)(fd, buf, bytes);
	if (wefti_pt_fd_is(fd, WEFTI_FD_SOCKET) && bytes > 0) {
		int saved = errno;
		ssize_t r = recv(fd, buf, bytes, 0);

		if (r >= 0 || errno != ENOTSOCK)
			return r;
		wefti_pt_fd_forget(fd);
		errno = saved;
	}
	return readv(fd, &iov, 1);
}

/* --- writing ------------------------------------------------------- */

/*
 * The kernel sends SIGPIPE to the carrier, which blocks it; the thread is who
 * is to get it.
 */
static void take_sigpipe(void)
{
	const uint64_t set = WEFTI_SIGNAL_BIT(SIGPIPE);
	const struct timespec now = { 0, 0 };
	siginfo_t info;

	if (wefti_arch_syscall(SYS_rt_sigtimedwait, (long)&set, (long)&info,
			       (long)&now, sizeof(set), 0, 0) == SIGPIPE)
		(void)!pthread_kill(pthread_self(), SIGPIPE);
}

static ssize_t written(ssize_t r)
{
	if (r == -EPIPE)
		take_sigpipe();
	wefti_signals_look();
	return result(r);
}

/* What of iov is left after `done` bytes; copied only then. */
static int advance(const struct iovec **iov, int *count, size_t done,
		   struct iovec *copy, int most)
{
	int n = *count;

	if (n > most)
		return 0;
	memmove(copy, *iov, (size_t)n * sizeof(*copy));
	while (n > 0 && done >= copy->iov_len) {
		done -= copy->iov_len;
		n--;
		memmove(copy, copy + 1, (size_t)n * sizeof(*copy));
	}
	if (n > 0) {
		copy->iov_base = (char *)copy->iov_base + done;
		copy->iov_len -= done;
	}
	*iov = copy;
	*count = n;
	return n > 0;
}

#define VECTORS	16

EXPORT ssize_t writev(int fd, const struct iovec *iov, int count)
{
	struct iovec copy[VECTORS];
	ssize_t r, done = 0;

	if (!wefti_pt_green())
		return REAL(writev)(fd, iov, count);
	wefti_cancel_point();
	for (;;) {
		struct wefti_edges before = wefti_pt_fd_edges(fd);
		int error;

		r = wefti_arch_syscall(SYS_pwritev2, fd, (long)iov, count, -1,
				       -1, NOWAIT);
		if (cannot_try(r)) {
			r = REAL(writev)(fd, iov, count);
			return r < 0 && errno == EPIPE ? written(-EPIPE) : r;
		}
		if (r > 0)
			done += r;
		/* A blocking write takes all, however long that takes. */
		if ((r < 0 && r != -EAGAIN) || (r >= 0 &&
		    !advance(&iov, &count, (size_t)r, copy, VECTORS)) ||
		    wefti_pt_fd_is_nonblocking(fd))
			break;
		if (r > 0)
			continue;
		error = wefti_pt_fd_wait(fd, POLLOUT, before, INT64_MAX);
		if (error)
			return done ? done : result(-error);
	}
	return done ? written(done) : written(r);
}

EXPORT ssize_t write(int fd, const void *buf, size_t bytes)
{
	struct iovec iov = { (void *)(uintptr_t)buf, bytes };

	if (!wefti_pt_green())
		return REAL(write)(fd, buf, bytes);
	if (wefti_pt_fd_is(fd, WEFTI_FD_SOCKET)) {
		int saved = errno;
		ssize_t r = send(fd, buf, bytes, 0);

		if (r >= 0 || errno != ENOTSOCK)
			return r;
		wefti_pt_fd_forget(fd);
		errno = saved;
	}
	return writev(fd, &iov, 1);
}
