/* SPDX-License-Identifier: MIT */
/* os/call/write.c - all of a text to a descriptor */
#include "os/call/write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>

#include "syscall.h"

#define PATIENCE_NS	100000000

/* Or it would never have room: what is not open, or only for reading. */
static int takes_text(int fd)
{
	long flags = wefti_arch_syscall(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);

	return flags != -EBADF && (flags < 0 ||
				   (flags & O_ACCMODE) != O_RDONLY);
}

/*
 * A pipe that has room has it for PIPE_BUF bytes; what is no pipe may have less
 * and is asked again. What cannot be asked is written to as it is; that a
 * signal came is no answer.
 */
static int has_room(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	struct timespec wait = { .tv_nsec = PATIENCE_NS };

	long n = wefti_arch_syscall(SYS_ppoll, (long)&p, 1, (long)&wait, 0, 8,
				    0);

	return n != 0 && n != -EINTR;
}

int wefti_os_write(int fd, const char *text, size_t bytes,
		   int (*goes_on)(void))
{
	if (bytes > 0 && !takes_text(fd))
		return -EIO;
	while (bytes > 0) {
		size_t most = bytes < PIPE_BUF ? bytes : PIPE_BUF;
		long n;

		if (!has_room(fd)) {
			if (!goes_on())
				return -EIO;
			continue;
		}
		n = wefti_arch_syscall(SYS_write, fd, (long)text, (long)most,
				       0, 0, 0);
		if (n == -EINTR || n == -EAGAIN)
			continue;
		if (n <= 0)
			return -EIO;
		text += n;
		bytes -= (size_t)n;
	}
	return 0;
}
