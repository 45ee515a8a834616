/* SPDX-License-Identifier: MIT */
/* newer.h - functions and constants that older headers lack, for tests */
#ifndef WEFT_TESTS_NEWER_H
#define WEFT_TESTS_NEWER_H

#include <sys/epoll.h>
#include <unistd.h>

#include "../../runtime/os/call/newer.h"

#ifndef HAVE_CLOSE_RANGE
static inline int close_range(unsigned low, unsigned high, int flags)
{
	return (int)syscall(SYS_close_range, low, high, flags);
}
#endif

#ifndef HAVE_CLOSEFROM
static inline void closefrom(int low)
{
	(void)close_range((unsigned)low, ~0u, 0);
}
#endif

#ifndef HAVE_EPOLL_PWAIT2
static inline int epoll_pwait2(int fd, struct epoll_event *events, int most,
			       const struct timespec *time, const sigset_t *mask)
{
	return (int)syscall(SYS_epoll_pwait2, fd, events, most, time, mask, 8);
}
#endif

#endif
