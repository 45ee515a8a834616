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
 * another file's. So they get high numbers, which a program hardly ever uses.
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

/* With copies of the descriptors if that cannot be avoided: they keep files open. */
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
