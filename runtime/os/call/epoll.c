/* SPDX-License-Identifier: MIT */
/*
 * os/call/epoll.c - the kernel says which descriptors have become ready
 *
 * Writers
 *   is_missing  wait_ns
 */
#include "os/call/epoll.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>

#include "lockfree/atomic.h"
#include "os/call/clock.h"
#include "os/call/descriptor.h"
#include "os/call/fatal.h"
#include "os/call/missing.h"
#include "os/call/newer.h"
#include "syscall.h"

#define NS_PER_SECOND	1000000000
#define NS_PER_MS	1000000
#define BOTH		(EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP)
#define READ_EVENTS	(EPOLLIN | EPOLLPRI | EPOLLRDHUP | EPOLLHUP | EPOLLERR)
#define WRITE_EVENTS	(EPOLLOUT | EPOLLHUP | EPOLLERR)

/* Moves a new descriptor to a high number. -ENOSYS: the call is not available. */
static int made(long fd)
{
	if (wefti_os_is_missing(fd))
		return -ENOSYS;
	return fd < 0 ? (int)fd : wefti_os_fd_move_up((int)fd);
}

int wefti_os_epoll_open(void)
{
	return made(wefti_arch_syscall(SYS_epoll_create1, EPOLL_CLOEXEC, 0, 0,
				       0, 0, 0));
}

static long ask(int ep, int op, int fd, uint32_t events, uint64_t data)
{
	struct epoll_event e = { .events = events, .data.u64 = data };

	return wefti_arch_syscall(SYS_epoll_ctl, ep, op, fd, (long)&e, 0, 0);
}

/*
 * The kernel returns EPERM for a file that cannot be waited for, and EBADF for a number
 * that is no descriptor. A filter returns EPERM for that number too.
 */
static int control(int ep, int op, int fd, uint32_t events, uint64_t data)
{
	long error = ask(ep, op, fd, events, data);

	if (unlikely(wefti_os_is_missing(error)) &&
	    wefti_os_is_missing(ask(ep, EPOLL_CTL_DEL, -1, 0, 0)))
		return -ENOSYS;
	return (int)error;
}

int wefti_os_epoll_add(int ep, int fd, uint64_t data)
{
	return control(ep, EPOLL_CTL_ADD, fd, BOTH | EPOLLET, data);
}

int wefti_os_epoll_again(int ep, int fd, uint64_t data)
{
	return control(ep, EPOLL_CTL_MOD, fd, BOTH | EPOLLET, data);
}

void wefti_os_epoll_remove(int ep, int fd)
{
	(void)control(ep, EPOLL_CTL_DEL, fd, 0, 0);
}

int wefti_os_eventfd_make(void)
{
	return made(wefti_arch_syscall(SYS_eventfd2, 0,
				       EFD_CLOEXEC | EFD_NONBLOCK, 0, 0, 0, 0));
}

int wefti_os_eventfd_open(int ep, uint64_t data)
{
	int fd = wefti_os_eventfd_make(), error;

	if (fd < 0)
		return fd;
	error = control(ep, EPOLL_CTL_ADD, fd, EPOLLIN, data);
	if (error) {
		(void)wefti_os_fd_close(fd);
		return error;
	}
	return fd;
}

void wefti_os_eventfd_post(int wake)
{
	uint64_t one = 1;

	(void)wefti_os_fd_write(wake, &one, sizeof(one));
}

void wefti_os_eventfd_take(int wake)
{
	uint64_t count;

	(void)wefti_os_fd_read(wake, &count, sizeof(count));
}

/* Nanoseconds from now; 0 when that has passed. */
static int64_t left(int64_t deadline)
{
	int64_t now;

	if (deadline == 0)
		return 0;
	now = wefti_os_now_ns();
	return deadline > now ? deadline - now : 0;
}

/* Not on all architectures. */
static long wait_oldest(int ep, struct epoll_event *e, long n, int64_t ms)
{
#ifdef SYS_epoll_wait
	if (unlikely(wefti_os_is_missing(n)))
		return wefti_arch_syscall(SYS_epoll_wait, ep, (long)e,
					  WEFTI_OS_EVENTS, (long)ms, 0, 0);
#else
	(void)ep;
	(void)e;
	(void)ms;
#endif
	return n;
}

/* Before Linux 5.11, in emulators and under filters: milliseconds, rounded up. */
static long wait_ms(int ep, struct epoll_event *e, int64_t deadline)
{
	int64_t ms = -1;

	if (deadline != INT64_MAX)
		ms = (left(deadline) + NS_PER_MS - 1) / NS_PER_MS;
	if (ms > INT32_MAX)
		ms = INT32_MAX;
	return wait_oldest(ep, e, wefti_arch_syscall(SYS_epoll_pwait, ep,
						     (long)e, WEFTI_OS_EVENTS,
						     (long)ms, 0, 0), ms);
}

static long wait_ns(int ep, struct epoll_event *e, int64_t deadline)
{
	static _Atomic int is_missing;
	struct timespec ts, *timeout = NULL;
	long n;

	if (load_relaxed(&is_missing))
		return wait_ms(ep, e, deadline);
	if (deadline != INT64_MAX) {
		int64_t ns = left(deadline);

		ts.tv_sec = ns / NS_PER_SECOND;
		ts.tv_nsec = ns % NS_PER_SECOND;
		timeout = &ts;
	}
	n = wefti_arch_syscall(SYS_epoll_pwait2, ep, (long)e, WEFTI_OS_EVENTS,
			       (long)timeout, 0, 0);
	if (!wefti_os_is_missing(n))
		return n;
	store_relaxed(&is_missing, 1);
	return wait_ms(ep, e, deadline);
}

int wefti_os_epoll_wait(int ep, struct wefti_os_event *events, int64_t deadline)
{
	struct epoll_event e[WEFTI_OS_EVENTS];
	long n = wait_ns(ep, e, deadline);

	if (n == -EINTR)
		return 0;
	if (n < 0)
		wefti_os_fatal("epoll_pwait", n);
	for (long i = 0; i < n; i++)
		events[i] = (struct wefti_os_event){
			.data = e[i].data.u64,
			.ready = (e[i].events & READ_EVENTS ?
				  WEFTI_OS_READABLE : 0) |
				 (e[i].events & WRITE_EVENTS ?
				  WEFTI_OS_WRITABLE : 0),
		};
	return (int)n;
}
