/* SPDX-License-Identifier: MIT */
/*
 * explore/descriptor.c - calls on descriptors that may block: the thread waits for its turn
 *
 * The call is made when poll(2) says that it will not block. Until then the thread waits as
 * for a lock, and the others run. Regular files have no points. Data from outside
 * the process come at no fixed step: a replay may take another course there.
 */
#include "explore.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "real.h"

#define SIGNALS_MS	1000

static int may_block(int fd)
{
	struct stat st;
	const int kept = errno;
	const int flags = fcntl(fd, F_GETFL);
	const int may = flags >= 0 && !(flags & O_NONBLOCK) && fstat(fd, &st) == 0 &&
			(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) ||
			 S_ISCHR(st.st_mode));

	errno = kept;
	return may;
}

/*
 * A read happens behind the write of its data, and the end of a file behind the close of its
 * other end. The library does not know which descriptors belong together, so all are one: a
 * race between threads that
 * talk through two pipes may be missed.
 */
static char written;

static void gives(void)
{
	if (wefti_ex_controlled())
		wefti_ex_give(wefti_ex_self, &written);
}

static ssize_t took(ssize_t bytes)
{
	const int kept = errno;

	if (wefti_ex_controlled())
		wefti_ex_take(wefti_ex_self, &written);
	errno = kept;
	return bytes;
}

int wefti_ex_wait_ready(const struct wefti_ex_try *call, struct pollfd *fds, nfds_t n,
			int64_t deadline, enum wefti_ex_op op, const void *where)
{
	struct wefti_ex_thread *self = wefti_ex_self;
	int is_late = 0, ready;

	wefti_ex_point(self, op, NULL, where);
	for (;;) {
		wefti_ex_cancel_point(self);
		ready = call->now(call->arguments);
		if (ready != 0 || is_late)
			return (int)(ready > 0 ? took(ready) : ready);
		wefti_ex.watches = 1;
		self->fds = fds;
		self->fd_count = n;
		self->is_interrupted = 0;
		is_late = wefti_ex_block(self, fds, deadline);
		self->fds = NULL;
		if (self->is_interrupted) {
			errno = EINTR;
			return -1;
		}
	}
}

static int poll_one(void *fd)
{
	return REAL(poll)(fd, 1, 0);
}

/* The point of a call on one descriptor. */
static void wait_for_one(int fd, short events, enum wefti_ex_op op, const void *where)
{
	struct pollfd one = { .fd = fd, .events = events };

	if (wefti_ex_controlled() && may_block(fd))
		(void)wefti_ex_wait_ready(&(struct wefti_ex_try){ poll_one, &one }, &one, 1,
					  WEFTI_EX_NEVER, op, where);
}

/* BLOCKED -> READY, for each thread that can go on. Returns 1: there is one. */
static int wake_watching(int *have_fds, int *have_signals)
{
	int are_woken = 0;

	*have_fds = *have_signals = 0;
	for (struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next) {
		if (t->state != WEFTI_EX_BLOCKED || (!t->fds && !t->awaits && !t->suspends))
			continue;
		*have_fds |= t->fds != NULL;
		*have_signals |= !t->fds;
		if (t->fds ? REAL(poll)(t->fds, t->fd_count, 0) == 0 : !wefti_ex_is_awaited(t))
			continue;
		t->state = WEFTI_EX_READY;
		are_woken = 1;
	}
	return are_woken;
}

/*
 * Where all threads wait for signals or for each other, a signal of another process would
 * help. It is not awaited for long: that is a deadlock, for this program alone.
 */
int wefti_ex_descriptors(int waits)
{
	const int state = wefti_ex_no_cancel();	/* poll() is a point of cancellation */
	int are_woken, have_fds, have_signals, left_ms = SIGNALS_MS;

	for (;;) {
		are_woken = wake_watching(&have_fds, &have_signals);
		if (!waits || are_woken)
			break;
		if (!have_fds && !(have_signals && (wefti_ex_signals_may_come() || left_ms--)))
			break;
		(void)REAL(poll)(NULL, 0, 1);
	}
	wefti_ex_cancel_again(state);
	return are_woken;
}

EXPORT ssize_t read(int fd, void *to, size_t bytes)
{
	wait_for_one(fd, POLLIN, WEFTI_EX_IN, CALLER);
	return took(REAL(read)(fd, to, bytes));
}

EXPORT ssize_t write(int fd, const void *from, size_t bytes)
{
	wait_for_one(fd, POLLOUT, WEFTI_EX_OUT, CALLER);
	gives();
	return REAL(write)(fd, from, bytes);
}

EXPORT ssize_t readv(int fd, const struct iovec *to, int n)
{
	wait_for_one(fd, POLLIN, WEFTI_EX_IN, CALLER);
	return took(REAL(readv)(fd, to, n));
}

EXPORT ssize_t writev(int fd, const struct iovec *from, int n)
{
	wait_for_one(fd, POLLOUT, WEFTI_EX_OUT, CALLER);
	gives();
	return REAL(writev)(fd, from, n);
}

/* A thread that waits at the other end sees it. */
EXPORT int close(int fd)
{
	gives();
	return REAL(close)(fd);
}

EXPORT int shutdown(int fd, int how)
{
	gives();
	return REAL(shutdown)(fd, how);
}

EXPORT ssize_t recv(int fd, void *to, size_t bytes, int flags)
{
	if (!(flags & MSG_DONTWAIT))
		wait_for_one(fd, POLLIN, WEFTI_EX_IN, CALLER);
	return took(REAL(recv)(fd, to, bytes, flags));
}

EXPORT ssize_t send(int fd, const void *from, size_t bytes, int flags)
{
	if (!(flags & MSG_DONTWAIT))
		wait_for_one(fd, POLLOUT, WEFTI_EX_OUT, CALLER);
	gives();
	return REAL(send)(fd, from, bytes, flags);
}

EXPORT ssize_t recvfrom(int fd, void *restrict to, size_t bytes, int flags,
			struct sockaddr *restrict from, socklen_t *restrict length)
{
	if (!(flags & MSG_DONTWAIT))
		wait_for_one(fd, POLLIN, WEFTI_EX_IN, CALLER);
	return took(REAL(recvfrom)(fd, to, bytes, flags, from, length));
}

EXPORT ssize_t sendto(int fd, const void *from, size_t bytes, int flags,
		      const struct sockaddr *to, socklen_t length)
{
	if (!(flags & MSG_DONTWAIT))
		wait_for_one(fd, POLLOUT, WEFTI_EX_OUT, CALLER);
	gives();
	return REAL(sendto)(fd, from, bytes, flags, to, length);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	if (!(flags & MSG_DONTWAIT))
		wait_for_one(fd, POLLIN, WEFTI_EX_IN, CALLER);
	return took(REAL(recvmsg)(fd, message, flags));
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	if (!(flags & MSG_DONTWAIT))
		wait_for_one(fd, POLLOUT, WEFTI_EX_OUT, CALLER);
	gives();
	return REAL(sendmsg)(fd, message, flags);
}

EXPORT int accept(int fd, struct sockaddr *address, socklen_t *bytes)
{
	wait_for_one(fd, POLLIN, WEFTI_EX_IN, CALLER);
	return (int)took(REAL(accept)(fd, address, bytes));
}

EXPORT int accept4(int fd, struct sockaddr *address, socklen_t *bytes, int flags)
{
	wait_for_one(fd, POLLIN, WEFTI_EX_IN, CALLER);
	return (int)took(REAL(accept4)(fd, address, bytes, flags));
}
