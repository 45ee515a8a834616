/* SPDX-License-Identifier: MIT */
/*
 * os/kthread/apart.c - a kernel thread whose descriptors are not the process's
 *
 * The numbers of descriptors belong to the program: it may count on getting the
 * lowest one that is free, and on one that it closed being closed. So what the
 * runtime opens behind its back, at a moment that no one can foresee, is opened
 * in a table of the kernel thread's own.
 *
 * Libraries remember numbers, and might use one later in the process's table,
 * where it is somebody else's. They get high ones, which a program hardly has.
 */
#include "os/kthread/apart.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "syscall.h"

#define HIGHEST		1008	/* 0.1 ms of each start; a limit is 1024 or more */
#define ROOM		16	/* what a library may have open at once */
#define UNSHARE		2	/* CLOSE_RANGE_UNSHARE */

static long call(long number, long a, long b, long c)
{
	return wefti_arch_syscall(number, a, b, c, 0, 0, 0);
}

/* With copies where they cannot be left out: they keep files open meanwhile. */
static long leave_table(void)
{
#if defined(SYS_close_range)
	if (call(SYS_close_range, 0, ~0U, UNSHARE) == 0)
		return 0;
#endif
	return call(SYS_unshare, CLONE_FILES, 0, 0);
}

int wefti_os_descriptors_apart(void)
{
	struct rlimit limit;
	long first = HIGHEST, fd, ret = leave_table();

	if (ret != 0)
		return (int)ret;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    limit.rlim_cur < (rlim_t)first + ROOM)
		first = (long)limit.rlim_cur - ROOM;
	/* Not an eventfd: qemu-user's ideas of those are the process's. */
	fd = call(SYS_epoll_create1, 0, 0, 0);
	while (fd >= 0 && fd < first - 1)
		fd = call(SYS_dup, fd, 0, 0);
	return 0;
}
