/* SPDX-License-Identifier: MIT */
/*
 * explore/transfer.c - data between two descriptors, several messages, and asynchronous reads:
 * the turn is given away while such a call would wait
 *
 * poll(2) says of both ends that the call finds something. It is then made without a wait, and
 * again if it has found nothing after all. Several messages are several calls.
 */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include "descriptor.h"
#include "real.h"

#define NS_PER_S	INT64_C(1000000000)

/* Returns -1: a handler has ended the wait. */
static int wait_for_both(int in, int out, const void *where)
{
	if (in >= 0 && wefti_ex_wait_for_one(in, POLLIN, 0, WEFTI_EX_IN, where) < 0)
		return -1;
	return out >= 0 ? wefti_ex_wait_for_one(out, POLLOUT, 0, WEFTI_EX_OUT, where) : 0;
}

/* Is the call to be made again? It waits, and has found nothing. */
static int is_to_wait(ssize_t bytes, unsigned flags)
{
	return bytes < 0 && errno == EAGAIN && !(flags & SPLICE_F_NONBLOCK);
}

static ssize_t passed(ssize_t bytes, unsigned flags)
{
	if (bytes >= 0)
		wefti_ex_read_by(wefti_ex_self);
	return flags & SPLICE_F_NONBLOCK ? wefti_ex_tried(bytes) : bytes;
}

/* A socket's own mode decides for its side. */
#define MOVES(name, in, out, parameters, ...)					\
	EXPORT ssize_t name parameters						\
	{									\
		ssize_t bytes;							\
		int in_modes, out_modes;					\
										\
		if (!wefti_ex_controlled())					\
			return REAL(name)(__VA_ARGS__, flags);			\
		do {								\
			if (!(flags & SPLICE_F_NONBLOCK) &&			\
			    wait_for_both(in, out, CALLER) < 0)			\
				return -1;					\
			wefti_ex_wrote();					\
			in_modes = wefti_ex_no_waits(in);			\
			out_modes = wefti_ex_no_waits(out);			\
			bytes = REAL(name)(__VA_ARGS__, flags | SPLICE_F_NONBLOCK); \
			wefti_ex_waits_again(out, out_modes);			\
			wefti_ex_waits_again(in, in_modes);			\
		} while (is_to_wait(bytes, flags));				\
		return passed(bytes, flags);					\
	}

MOVES(splice, in, out,
      (int in, off64_t *from, int out, off64_t *to, size_t n, unsigned flags),
      in, from, out, to, n)
MOVES(tee, in, out, (int in, int out, size_t n, unsigned flags), in, out, n)
MOVES(vmsplice, -1, fd, (int fd, const struct iovec *from, size_t n, unsigned flags),
      fd, from, n)

/* Where it waits for room it writes all, as libc's does. */
EXPORT ssize_t sendfile(int out, int in, off_t *at, size_t n)
{
	size_t done = 0;
	ssize_t bytes;

	if (!wefti_ex_controlled() || !wefti_ex_may_block(out)) {
		wefti_ex_wrote();
		return wefti_ex_tried(REAL(sendfile)(out, in, at, n));
	}
	do {
		int modes;

		if (wait_for_both(in, out, CALLER) < 0)
			return done ? (ssize_t)done : -1;
		wefti_ex_wrote();
		modes = wefti_ex_no_waits(out);
		bytes = REAL(sendfile)(out, in, at, n - done);
		wefti_ex_waits_again(out, modes);
		done += bytes > 0 ? (size_t)bytes : 0;
	} while (bytes < 0 ? errno == EAGAIN : bytes > 0 && done < n);
	return done ? (ssize_t)done : bytes;
}

EXPORT ssize_t sendfile64(int out, int in, off64_t *at, size_t n)
	__attribute__((alias("sendfile")));

/* With the offset -1 they are readv() and writev(). */
EXPORT ssize_t preadv2(int fd, const struct iovec *to, int n, off_t at, int flags)
{
	if (at == -1 && !(flags & RWF_NOWAIT) &&
	    wefti_ex_wait_for_one(fd, POLLIN, 0, WEFTI_EX_IN, CALLER) < 0)
		return -1;
	return REAL(preadv2)(fd, to, n, at, flags);
}

EXPORT ssize_t pwritev2(int fd, const struct iovec *from, int n, off_t at, int flags)
{
	if (at == -1 && !flags)
		return writev(fd, from, n);
	wefti_ex_wrote();
	return REAL(pwritev2)(fd, from, n, at, flags);
}

EXPORT ssize_t preadv64v2(int fd, const struct iovec *to, int n, off64_t at, int flags)
	__attribute__((alias("preadv2")));
EXPORT ssize_t pwritev64v2(int fd, const struct iovec *from, int n, off64_t at, int flags)
	__attribute__((alias("pwritev2")));

static int64_t deadline_of(const struct timespec *time)
{
	if (!time || time->tv_sec < 0 || time->tv_sec >= WEFTI_EX_NEVER / NS_PER_S - 1)
		return WEFTI_EX_NEVER;
	return wefti_ex_in(time->tv_sec * NS_PER_S + time->tv_nsec);
}

/* The time is looked at behind each message alone, as Linux does. */
EXPORT int recvmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags,
		    struct timespec *time)
{
	const int64_t deadline = wefti_ex_controlled() ? deadline_of(time) : 0;
	unsigned done = 0;

	if (!wefti_ex_controlled())
		return REAL(recvmmsg)(fd, messages, n, flags, time);
	while (done < n) {
		const ssize_t bytes = recvmsg(fd, &messages[done].msg_hdr,
					      flags & ~MSG_WAITFORONE);

		if (bytes < 0)
			return done ? (int)done : -1;
		messages[done++].msg_len = (unsigned)bytes;
		if (flags & MSG_WAITFORONE)
			flags |= MSG_DONTWAIT;
		if (deadline <= wefti_ex.now)
			break;
	}
	return (int)done;
}

EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags)
{
	unsigned done = 0;

	if (!wefti_ex_controlled())
		return REAL(sendmmsg)(fd, messages, n, flags);
	while (done < n) {
		const ssize_t bytes = sendmsg(fd, &messages[done].msg_hdr, flags);

		if (bytes < 0)
			return done ? (int)done : -1;
		messages[done++].msg_len = (unsigned)bytes;
	}
	return (int)done;
}

struct some {
	const struct aiocb *const *list;
	int n;
};

/* libc's own threads do the work, beside the others and by the machine's clock. */
static int has_ended(void *arguments)
{
	const struct some *some = arguments;

	for (int i = 0; i < some->n; i++)
		if (some->list[i] && aio_error(some->list[i]) != EINPROGRESS)
			return 1;
	return 0;
}

EXPORT int aio_suspend(const struct aiocb *const *list, int n, const struct timespec *time)
{
	struct some some = { list, n };
	int ready;

	if (!wefti_ex_controlled())
		return REAL(aio_suspend)(list, n, time);
	ready = wefti_ex_wait_ready(&(struct wefti_ex_try){ has_ended, &some }, NULL, 0,
				    deadline_of(time), WEFTI_EX_IN, CALLER);
	if (ready == 0)
		errno = EAGAIN;
	return ready > 0 ? 0 : -1;
}

int aio_suspend64(const struct aiocb64 *const *list, int n, const struct timespec *time);

EXPORT int aio_suspend64(const struct aiocb64 *const *list, int n, const struct timespec *time)
{
	return aio_suspend((const struct aiocb *const *)(const void *)list, n, time);
}
