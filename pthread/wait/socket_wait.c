/* SPDX-License-Identifier: MIT */
/*
 * pthread/wait/socket_wait.c - waits for a descriptor of any kind; a socket's own
 * timeouts are kept
 */
#include <errno.h>
#include <sys/time.h>

#include "os/call/clock.h"
#include "pthread/core/real.h"
#include "pthread/core/time.h"
#include "pthread/wait/fd_table.h"
#include "pthread/wait/fd_wait.h"

int wefti_pt_socket_option(int fd, int option)
{
	int value = 0, saved = errno;
	socklen_t size = sizeof(value);

	if (getsockopt(fd, SOL_SOCKET, option, &value, &size) != 0)
		value = -1;
	errno = saved;
	return value;
}

static int64_t option_ns(int fd, int option)
{
	struct timeval time = { 0, 0 };
	socklen_t size = sizeof(time);
	int saved = errno;

	if (getsockopt(fd, SOL_SOCKET, option, &time, &size) != 0)
		errno = saved;
	return (int64_t)time.tv_sec * WEFTI_NS + (int64_t)time.tv_usec * 1000;
}

static int64_t deadline_of(int fd, short events, struct wefti_pt_limit *limit)
{
	uint8_t known = events & POLLIN ? WEFTI_FD_NO_RCVTIMEO :
					  WEFTI_FD_NO_SNDTIMEO;
	int64_t ns;

	if (limit->deadline)
		return limit->deadline;
	if (wefti_pt_fd_is_all(fd, known | WEFTI_FD_WATCHED))
		return INT64_MAX;
	ns = option_ns(fd, events & POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO);
	if (ns == 0)
		wefti_pt_fd_note(fd, known);
	limit->deadline = ns == 0 ? INT64_MAX : wefti_time_sum(limit->begun, ns);
	return limit->deadline;
}

int wefti_pt_socket_wait(int fd, short events, struct wefti_edges before,
			 struct wefti_pt_limit *limit)
{
	int64_t deadline;

	if (limit->begun == 0)
		limit->begun = wefti_os_now_ns();
	deadline = deadline_of(fd, events, limit);
	return wefti_pt_fd_wait(fd, events, before, deadline,
				deadline == INT64_MAX && !limit->is_partial ?
				NULL : &limit->handled);
}

void wefti_pt_limit_advance(int fd, struct wefti_pt_limit *limit)
{
	limit->is_partial = 1;
	if (unlikely(limit->deadline && limit->deadline != INT64_MAX) &&
	    wefti_pt_socket_option(fd, SO_DOMAIN) == AF_UNIX)
		limit->begun = limit->deadline = 0;
}
