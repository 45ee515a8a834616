/* SPDX-License-Identifier: MIT */
/* os/write.c - all of a text to a descriptor */
#include "os/write.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>

#include "syscall.h"

static int wait_for_room(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	struct timespec second = { .tv_sec = 1 };

	return wefti_arch_syscall(SYS_ppoll, (long)&p, 1, (long)&second, 0,
				  8, 0) > 0;
}

int wefti_os_write(int fd, const char *text, size_t bytes)
{
	while (bytes > 0) {
		long n = wefti_arch_syscall(SYS_write, fd, (long)text,
					    (long)bytes, 0, 0, 0);

		if (n == -EINTR || (n == -EAGAIN && wait_for_room(fd)))
			continue;
		if (n <= 0)
			return -EIO;
		text += n;
		bytes -= (size_t)n;
	}
	return 0;
}
