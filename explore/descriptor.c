/* SPDX-License-Identifier: MIT */
/*
 * explore/descriptor.c - reads of descriptors that may block: the thread waits for its turn
 *
 * The call is made when poll(2) says that it will not block. Until then the thread waits as
 * for a lock, and the others run. Regular files have no points. Data from outside
 * the process come at no fixed step: a replay may take another course there.
 */
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "real.h"

#define SIGNALS_MS	1000
#define CHILD_MS	1000
#define NS_PER_MS	INT64_C(1000000)

/* Regular files have no points. errno stays. */
static int is_shared(int fd)
{
	struct stat st;
	const int kept = errno;
	const int is_known = fstat(fd, &st) == 0;

	errno = kept;
	return is_known &&
	       (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISCHR(st.st_mode));
}

static int is_nonblocking(int fd)
{
	const int flags = REAL(fcntl)(fd, F_GETFL);

	return flags < 0 || (flags & O_NONBLOCK);
}

int wefti_ex_may_block(int fd)
{
	return is_shared(fd) && !is_nonblocking(fd);
}

int wefti_ex_no_waits(int fd)
{
	const int modes = wefti_ex_may_block(fd) ? REAL(fcntl)(fd, F_GETFL) : -1;

	if (modes >= 0)
		(void)REAL(fcntl)(fd, F_SETFL, modes | O_NONBLOCK);
	return modes;
}

void wefti_ex_waits_again(int fd, int modes)
{
	const int kept = errno;

	if (modes >= 0)
		(void)REAL(fcntl)(fd, F_SETFL, modes);
	errno = kept;
}

/*
 * The library does not know which descriptors belong together, so all are one: a
 * race between threads that talk through two pipes may be missed.
 */
static char written;

void wefti_ex_wrote(void)
{
	if (wefti_ex_controlled())
		wefti_ex_wrote_by(wefti_ex_self);
}

void wefti_ex_wrote_by(struct wefti_ex_thread *self)
{
	wefti_ex_give(self, &written);
}

void wefti_ex_read_by(struct wefti_ex_thread *self)
{
	wefti_ex_take(self, &written);
}

ssize_t wefti_ex_tried(ssize_t bytes)
{
	if (bytes < 0 && errno == EAGAIN)
		wefti_ex_found_nothing();
	return bytes;
}

static ssize_t took(ssize_t bytes)
{
	const int kept = errno;

	if (wefti_ex_controlled())
		wefti_ex_take(wefti_ex_self, &written);
	errno = kept;
	return wefti_ex_tried(bytes);
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
		self->again = fds || self->awaits ? NULL : call;
		self->fds = fds;
		self->fd_count = n;
		self->is_interrupted = 0;
		is_late = wefti_ex_block(self, fds, deadline);
		self->fds = NULL;
		self->again = NULL;
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

int wefti_ex_wait_restarted(const struct wefti_ex_try *call, struct pollfd *fds, nfds_t n,
			    int64_t deadline, enum wefti_ex_op op, const void *where)
{
	const struct wefti_ex_thread *self = wefti_ex_self;
	int ready;

	do
		ready = wefti_ex_wait_ready(call, fds, n, deadline, op, where);
	while (ready < 0 && errno == EINTR && !(self->is_interrupted & WEFTI_EX_NO_RESTART));
	return ready;
}

int wefti_ex_wait_for_one(int fd, short events, int flags, enum wefti_ex_op op,
			  const void *where)
{
	struct pollfd one = { .fd = fd, .events = events };

	if (!wefti_ex_controlled() || !is_shared(fd))
		return 0;
	if (!(flags & MSG_DONTWAIT) && !is_nonblocking(fd))
		return wefti_ex_wait_restarted(&(struct wefti_ex_try){ poll_one, &one }, &one, 1,
					       WEFTI_EX_NEVER, op, where) < 0 ? -1 : 0;
	wefti_ex_point(wefti_ex_self, op, NULL, where);
	return 0;
}

static int is_watching(const struct wefti_ex_thread *t)
{
	return t->state == WEFTI_EX_BLOCKED && (t->fds || t->again || t->awaits || t->suspends);
}

static int can_go_on(const struct wefti_ex_thread *t)
{
	if (t->fds)
		return REAL(poll)(t->fds, t->fd_count, 0) != 0;
	return t->again ? t->again->now(t->again->arguments) : wefti_ex_is_awaited(t);
}

/* BLOCKED -> READY, for each thread that can go on. Returns 1: there is one. */
static int wake_watching(int *have_fds, int *have_signals)
{
	int are_woken = 0;

	*have_fds = *have_signals = 0;
	for (struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next) {
		if (!is_watching(t))
			continue;
		*have_fds |= t->fds || t->again;
		*have_signals |= !t->fds && !t->again;
		if (!can_go_on(t))
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

/* Real time passes for a child, which is another process, before virtual time jumps. */
int wefti_ex_child_ends_in(int64_t ns)
{
	const int64_t ms = ns / NS_PER_MS < CHILD_MS ? ns / NS_PER_MS : CHILD_MS;
	const struct wefti_ex_thread *t = wefti_ex.all;
	int are_woken = 0;

	while (t && (t->state != WEFTI_EX_BLOCKED || t->op != WEFTI_EX_CHILD))
		t = t->next;
	for (int64_t i = 0; t && i <= ms && !are_woken; i++) {
		if (i)
			(void)REAL(poll)(NULL, 0, 1);
		are_woken = wefti_ex_descriptors(0);
	}
	return are_woken;
}

EXPORT ssize_t read(int fd, void *to, size_t bytes)
{
	if (wefti_ex_wait_for_one(fd, POLLIN, 0, WEFTI_EX_IN, CALLER) < 0)
		return -1;
	return took(REAL(read)(fd, to, bytes));
}

EXPORT ssize_t readv(int fd, const struct iovec *to, int n)
{
	if (wefti_ex_wait_for_one(fd, POLLIN, 0, WEFTI_EX_IN, CALLER) < 0)
		return -1;
	return took(REAL(readv)(fd, to, n));
}

/*
 * A thread that waits at the other end sees it. No other one sees the close of a file, but for
 * its lock.
 */
static void ends(int fd, const void *where)
{
	if (!wefti_ex_controlled())
		return;
	if (is_shared(fd))
		wefti_ex_point(wefti_ex_self, WEFTI_EX_CLOSE_FD, NULL, where);
	else
		wefti_ex_past(wefti_ex_self, WEFTI_EX_CLOSE_FD, NULL);
	wefti_ex_wrote();
}

EXPORT int close(int fd)
{
	ends(fd, CALLER);
	return REAL(close)(fd);
}

EXPORT int shutdown(int fd, int how)
{
	ends(fd, CALLER);
	return REAL(shutdown)(fd, how);
}

EXPORT ssize_t recv(int fd, void *to, size_t bytes, int flags)
{
	if (wefti_ex_wait_for_one(fd, POLLIN, flags, WEFTI_EX_IN, CALLER) < 0)
		return -1;
	return took(REAL(recv)(fd, to, bytes, flags));
}

EXPORT ssize_t recvfrom(int fd, void *restrict to, size_t bytes, int flags,
			struct sockaddr *restrict from, socklen_t *restrict length)
{
	if (wefti_ex_wait_for_one(fd, POLLIN, flags, WEFTI_EX_IN, CALLER) < 0)
		return -1;
	return took(REAL(recvfrom)(fd, to, bytes, flags, from, length));
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	if (wefti_ex_wait_for_one(fd, POLLIN, flags, WEFTI_EX_IN, CALLER) < 0)
		return -1;
	return took(REAL(recvmsg)(fd, message, flags));
}

EXPORT int accept(int fd, struct sockaddr *address, socklen_t *bytes)
{
	if (wefti_ex_wait_for_one(fd, POLLIN, 0, WEFTI_EX_IN, CALLER) < 0)
		return -1;
	return (int)took(REAL(accept)(fd, address, bytes));
}

EXPORT int accept4(int fd, struct sockaddr *address, socklen_t *bytes, int flags)
{
	if (wefti_ex_wait_for_one(fd, POLLIN, 0, WEFTI_EX_IN, CALLER) < 0)
		return -1;
	return (int)took(REAL(accept4)(fd, address, bytes, flags));
}
