/* SPDX-License-Identifier: MIT */
/*
 * pthread/ready.c - a green thread waits until a descriptor is ready
 *
 * In poll(), in a region: the kernel thread sleeps and its VCPU is given away.
 * The descriptor's flags are never changed: the open file may be another
 * process's too.
 */
#include "pthread/ready.h"

#include <errno.h>
#include <sys/time.h>

#include "pthread/cancel.h"
#include "pthread/real.h"
#include "pthread/region.h"
#include "pthread/signal.h"
#include "pthread/time.h"

int64_t wefti_socket_deadline(int fd, int option)
{
	struct timeval time = { 0, 0 };
	socklen_t size = sizeof(time);
	int saved = errno;

	if (getsockopt(fd, SOL_SOCKET, option, &time, &size) != 0)
		errno = saved;
	if (time.tv_sec == 0 && time.tv_usec == 0)
		return INT64_MAX;
	return wefti_time_after((int64_t)time.tv_sec * WEFTI_NS +
				(int64_t)time.tv_usec * 1000);
}

int wefti_pt_fd_is_nonblocking(int fd)
{
	int saved = errno, flags = fcntl(fd, F_GETFL);

	errno = saved;
	return flags < 0 || (flags & O_NONBLOCK);
}

int wefti_pt_fd_wait(int fd, short events, int64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = events };
	struct timespec time, *timeout = NULL;
	int saved = errno, n;

	wefti_cancel_point();
	if (deadline != INT64_MAX) {
		int64_t left = deadline - wefti_os_now_ns();

		if (left <= 0)
			return EAGAIN;
		time = (struct timespec){ left / WEFTI_NS, left % WEFTI_NS };
		timeout = &time;
	}
	wefti_region_begin();
	n = REAL(ppoll)(&p, 1, timeout, NULL);
	wefti_region_end();
	errno = saved;
	wefti_cancel_point();
	if (wefti_signals_run() == WEFTI_SIGNALS_EINTR)
		return EINTR;
	return n == 0 ? EAGAIN : 0;
}
