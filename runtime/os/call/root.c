/* SPDX-License-Identifier: MIT */
/*
 * os/call/root.c - do names still mean the files that they meant at the start?
 *
 * The root is identified by its folder's device and number. A relative folder of the
 * dynamic loader (LD_LIBRARY_PATH) changes with the program's current folder.
 */
#include "os/call/root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>

#include "base/format.h"
#include "syscall.h"

static struct stat first;
static int is_known;
static int is_relative;		/* a folder of LD_LIBRARY_PATH */

static int stat_root(struct stat *at)
{
	return wefti_arch_syscall(SYS_newfstatat, AT_FDCWD, (long)"/", (long)at,
				  0, 0, 0) == 0;
}

/* An empty name means the current folder. */
static int has_relative(const char *list)
{
	int begins = 1;

	for (; list && *list; list++) {
		if (begins && *list != '/' && *list != '$')
			return 1;
		begins = *list == ':' || *list == ';';
	}
	return list && begins;
}

/* Runs before main(), which may change all of it. */
__attribute__((constructor)) static void note(void)
{
	const char *list = getenv("LD_LIBRARY_PATH");

	is_known = stat_root(&first);
	is_relative = list && *list && has_relative(list);
}

int wefti_os_root_is_same(void)
{
	struct stat now;

	return is_known && !is_relative && stat_root(&now) &&
	       now.st_dev == first.st_dev && now.st_ino == first.st_ino;
}

static int is_of_proc(long fd)
{
	struct statfs fs;

	return wefti_arch_syscall(SYS_fstatfs, fd, (long)&fs, 0, 0, 0, 0) == 0 &&
	       fs.f_type == PROC_SUPER_MAGIC;
}

long wefti_os_proc_open(const char *path, int flags)
{
	long fd = wefti_arch_syscall(SYS_openat, AT_FDCWD, (long)path,
				     flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
				     0, 0, 0);

	if (fd < 0 || is_of_proc(fd))
		return fd;
	wefti_arch_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return -ENOENT;
}

long wefti_os_proc_open_again(int pid, int fd, int flags)
{
	char path[32];
	long folder, again;

	if (pid)
		wefti_format(path, sizeof(path), "/proc/%d/fd", pid);
	else
		wefti_format(path, sizeof(path), "/proc/self/fd");
	folder = wefti_os_proc_open(path, O_RDONLY | O_DIRECTORY);
	if (folder < 0)
		return folder;
	wefti_format(path, sizeof(path), "%d", fd);
	again = wefti_arch_syscall(SYS_openat, folder, (long)path,
				   flags | O_CLOEXEC, 0, 0, 0);
	wefti_arch_syscall(SYS_close, folder, 0, 0, 0, 0, 0);
	return again;
}
