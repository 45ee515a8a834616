/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/fd.c - calls that make, close and change descriptors
 *
 * A program may close descriptors that it has not opened itself. It cannot close ours:
 * the poller's two and those of pthread/io/kaio.c. For the program their numbers are not
 * open (EBADF), and dup2() to them fails (EBADF, as for numbers above the limit).
 */
#include "pthread/io/io.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/table.h"
#include "os/call/newer.h"
#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"
#include "pthread/io/kaio.h"
#include "pthread/signal/cancel.h"
#include "pthread/wait/fd_table.h"
#include "sched/poller.h"
#include "syscall.h"

static int is_own(int fd)
{
	return fd >= 0 && (wefti_poller_has(fd) || wefti_kaio_next(fd) == fd);
}

/* The child of a vfork() has its own descriptors, and no thread waits for those. */
static int may_be_waited_for(int fd)
{
	const struct wefti_fd *e = fd < 0 ? NULL : wefti_fd_find((uint32_t)fd);

	return e && wefti_fd_users(load_seq_cst(&e->word)) > 0 &&
	       wefti_pt_is_started() && wefti_pt_pid() == getpid();
}

/*
 * In the kernel, a wait for a file goes on when its number is closed or given to another
 * file. Here the wait ends with EBADF, before the number can be used again. A thread that
 * begins to wait in between looks again after that.
 */
static void end_waits(int fd)
{
	wefti_pt_fd_forget(fd);
	if (unlikely(may_be_waited_for(fd)))
		wefti_fd_changes(fd);
}

static void end_late_waits(int fd)
{
	if (unlikely(may_be_waited_for(fd)))
		wefti_fd_changed(fd);
}

static int close_now(int fd)
{
	int result;

	if (is_own(fd))
		return wefti_answer(EBADF);
	end_waits(fd);
	result = REAL(close)(fd);
	end_late_waits(fd);
	return result;
}

EXPORT int close(int fd)
{
	if (wefti_pt_green())
		wefti_cancel_point();
	return close_now(fd);
}
SECOND_NAME(close, __close);

/* Called before and after the number `to` is given to another file. */
static void is_to_be_given(int to, int from)
{
	int saved = errno;

	wefti_pt_fd_forget(to);
	if (to != from && may_be_waited_for(to) && REAL(fcntl)(from, F_GETFD) >= 0)
		wefti_fd_changes(to);
	errno = saved;
}

static int given(int to, int from)
{
	if (to >= 0 && to != from)
		end_late_waits(to);
	return to;
}

EXPORT int dup2(int from, int to)
{
	if (is_own(to))
		return wefti_answer(EBADF);
	is_to_be_given(to, from);
	return given(REAL(dup2)(from, to), from);
}
SECOND_NAME(dup2, __dup2);

EXPORT int dup3(int from, int to, int flags)
{
	if (is_own(to))
		return wefti_answer(EBADF);
	is_to_be_given(to, from);
	return given(REAL(dup3)(from, to, flags), from);
}

static long kernel(long number, const long *a)
{
	return wefti_arch_syscall(number, a[0], a[1], a[2], 0, 0, 0);
}

static long kernel_close_range(unsigned first, unsigned last, unsigned flags)
{
	return wefti_arch_syscall(SYS_close_range, first, last, flags, 0, 0, 0);
}

/* The first of our own descriptors from there on; -1: none. */
static int next_own(unsigned from)
{
	uint64_t word = load_seq_cst(&wefti_poller.word);
	int of_poller[2] = { wefti_poller_epoll(word),
			     wefti_poller_eventfd(word) };
	int next = from > INT_MAX ? -1 : wefti_kaio_next((int)from);

	for (int i = 0; word && i < 2; i++)
		if ((unsigned)of_poller[i] >= from &&
		    (next < 0 || of_poller[i] < next))
			next = of_poller[i];
	return next;
}

/* Closes first to last, both included. Our own descriptors divide the range. */
static long close_divided(unsigned first, unsigned last, unsigned flags)
{
	int own;

	while ((own = next_own(first)) >= 0 && (unsigned)own <= last) {
		unsigned at = (unsigned)own;
		long error = at > first ?
			     kernel_close_range(first, at - 1, flags) : 0;

		if (error || at == last)
			return error;
		first = at + 1;
	}
	return kernel_close_range(first, last, flags);
}

/* CLOSE_RANGE_UNSHARE would give the carrier alone its own table of descriptors. */
static long close_from_to(unsigned first, unsigned last, unsigned flags)
{
	long error;

	if ((flags & CLOSE_RANGE_UNSHARE) && wefti_pt_green() &&
	    wefti_pt_is_started())
		return -EINVAL;
	if (flags & CLOSE_RANGE_CLOEXEC)
		return close_divided(first, last, flags);
	for (unsigned fd = first; fd <= last && fd < WEFTI_FD_MOST; fd++)
		if (!is_own((int)fd))
			end_waits((int)fd);
	error = close_divided(first, last, flags);
	for (unsigned fd = first; fd <= last && fd < WEFTI_FD_MOST; fd++)
		end_late_waits((int)fd);
	return error;
}

EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	return (int)wefti_pt_result(close_from_to(first, last,
						  (unsigned)flags));
}

/*
 * The same as those functions. While there are no threads, libc makes the call: a program
 * may have all system calls except libc's sent to itself.
 */
static int close_by_number(long number, const long *a, int fd, long *result)
{
	*result = -EBADF;
	if (is_own(fd))
		return 1;
	wefti_pt_fd_forget(fd);
	if (!wefti_pt_is_started())
		return 0;
	if (number == SYS_close)
		end_waits(fd);
	else
		is_to_be_given(fd, (int)a[0]);
	*result = kernel(number, a);
	if (number == SYS_close)
		end_late_waits(fd);
	else
		(void)given((int)*result, (int)a[0]);
	return 1;
}

int wefti_pt_fd_syscall(long number, const long a[6], long *result)
{
	switch (number) {
	case SYS_close:
		return close_by_number(number, a, (int)a[0], result);
#ifdef SYS_dup2		/* not on all architectures */
	case SYS_dup2:
#endif
	case SYS_dup3:
		return close_by_number(number, a, (int)a[1], result);
	case SYS_close_range:
		*result = close_from_to((unsigned)a[0], (unsigned)a[1],
					(unsigned)a[2]);
		return 1;
	default:
		return 0;
	}
}

/* Cannot fail. Before Linux 5.9 there is no close_range(). */
EXPORT void closefrom(int low)
{
	unsigned first = low > 0 ? (unsigned)low : 0;
	struct rlimit limit;
	int saved = errno;

	if (close_from_to(first, ~0u, 0) != 0 &&
	    getrlimit(RLIMIT_NOFILE, &limit) == 0)
		for (unsigned fd = first; fd < limit.rlim_cur; fd++)
			close_now((int)fd);
	errno = saved;
}

EXPORT int socket(int family, int type, int protocol)
{
	return wefti_pt_fd_made_socket(REAL(socket)(family, type, protocol));
}

EXPORT int socketpair(int family, int type, int protocol, int fd[2])
{
	int status = REAL(socketpair)(family, type, protocol, fd);

	if (status == 0) {
		wefti_pt_fd_made_socket(fd[0]);
		wefti_pt_fd_made_socket(fd[1]);
	}
	return status;
}

/* The kernel takes a value below 0 as the largest. */
static void note_low_water(int fd, int bytes)
{
	if (bytes < 0 || bytes > 1)
		wefti_pt_fd_note(fd, WEFTI_FD_LOWAT);
	else
		wefti_pt_fd_doubt(fd, WEFTI_FD_LOWAT);
}

EXPORT int setsockopt(int fd, int level, int option, const void *value,
		      socklen_t length)
{
	int status;

	if (level == SOL_SOCKET)
		wefti_pt_fd_doubt(fd, WEFTI_FD_NO_RCVTIMEO |
				      WEFTI_FD_NO_SNDTIMEO);
	status = REAL(setsockopt)(fd, level, option, value, length);
	if (status == 0 && level == SOL_SOCKET && option == SO_RCVLOWAT)
		note_low_water(fd, *(const int *)value);
	return status;
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	void *arg;

	va_start(list, request);
	arg = va_arg(list, void *);
	va_end(list);
	if (request == FIONBIO)
		wefti_pt_fd_doubt(fd, WEFTI_FD_BLOCKS);
	return REAL(ioctl)(fd, request, arg);
}
