/* SPDX-License-Identifier: MIT */
/*
 * os/kthread/apart.c - a kernel thread whose descriptors are not the process's
 *
 * Descriptor numbers belong to the program. It may rely on getting the lowest free
 * number, and on a number that it closed being closed. So if the runtime opens a file at
 * a moment that the program cannot foresee, it does so in a table of the kernel thread's
 * own.
 *
 * Libraries remember numbers, and might later use one in the process's table, where it is
 * another file's. The only file that libunwind keeps is a pipe. Its calls are bound to
 * wefti_os_pipe_high(), so the pipe has high numbers, which a program hardly ever uses.
 * Whatever else is opened here (by the program's own malloc, say) does at least not get
 * the number of one of the program's first files. Rejected: to fill all numbers up to the
 * high ones. That was a thousand calls of dup(), and half of the loader's time.
 */
#include "os/kthread/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>

#include "os/call/descriptor.h"
#include "os/call/newer.h"
#include "syscall.h"

#define FIRST		48	/* of what is opened; a table of 64 has not grown */
#define HIGH		1008	/* of a pipe; a limit is 1024 or more */
#define ROOM		16	/* what a library may have open at once */

static long call(long number, long a, long b, long c)
{
	return wefti_arch_syscall(number, a, b, c, 0, 0, 0);
}

/* With copies of the descriptors if that cannot be avoided: they keep files open. */
static long leave_table(void)
{
	if (call(SYS_close_range, 0, ~0U, CLOSE_RANGE_UNSHARE) == 0)
		return 0;
	return call(SYS_unshare, CLONE_FILES, 0, 0);
}

/* `first`, or as high as the limit allows. */
static long within_limit(long first)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    limit.rlim_cur < (rlim_t)first + ROOM)
		first = (long)limit.rlim_cur - ROOM;
	return first;
}

int wefti_os_descriptors_apart(void)
{
	long first = within_limit(FIRST), fd, ret = leave_table();

	if (ret != 0)
		return (int)ret;
	/* Not an eventfd: qemu-user's ideas of those are the process's. */
	fd = call(SYS_epoll_create1, 0, 0, 0);
	while (fd >= 0 && fd < first - 1)
		fd = call(SYS_dup, fd, 0, 0);
	return 0;
}

int wefti_os_pipe_high(int fds[2], int flags)
{
	const int least = (int)within_limit(HIGH);
	int made[2], error = wefti_os_fd_pipe(made, flags | O_CLOEXEC);

	if (error) {
		errno = -error;
		return -1;
	}
	fds[0] = wefti_os_fd_move(made[0], least);
	fds[1] = wefti_os_fd_move(made[1], least);
	return 0;
}
