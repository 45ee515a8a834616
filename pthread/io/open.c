/* SPDX-License-Identifier: MIT */
/* pthread/io/open.c - files are opened, by their path or by a handle */
#include <errno.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "os/call/newer.h"
#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/core/self.h"
#include "pthread/kthread/proc.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"
#include "pthread/wait/fd_table.h"
#include "syscall.h"

/* Only an open of one end of a FIFO waits: for an open of the other end. */
static int is_met(int dir, const char *path, int flags)
{
	int saved = errno, met;
	struct stat s;

	if ((flags & (O_NONBLOCK | O_PATH | O_DIRECTORY)) ||
	    (flags & O_ACCMODE) == O_RDWR || !(~flags & (O_CREAT | O_EXCL)))
		return 0;
	met = fstatat(dir, path, &s, 0) == 0 && S_ISFIFO(s.st_mode);
	errno = saved;
	return met;
}

/* The arguments of openat(), or of openat2(). */
struct opening {
	int dir, flags;
	mode_t mode;
	const struct open_how *how;	/* NULL: of openat() */
	size_t how_bytes;
};

/*
 * malloc() may open files while libc's own functions are still being looked up, and
 * openat2() is in libc since 2.43.
 */
static int open_now(const struct opening *o, const char *path)
{
	if (o->how && wefti_real.openat2)
		return wefti_real.openat2(o->dir, path, o->how, o->how_bytes);
	if (o->how)
		return (int)wefti_pt_result(wefti_arch_syscall(
			SYS_openat2, o->dir, (long)path, (long)o->how,
			(long)o->how_bytes, 0, 0));
	if (unlikely(!wefti_real.openat))
		return (int)wefti_pt_result(wefti_arch_syscall(
			SYS_openat, o->dir, (long)path, o->flags, o->mode, 0, 0));
	return wefti_real.openat(o->dir, path, o->flags, o->mode);
}

static int open_as(const struct opening *o, const char *path)
{
	int green = wefti_pt_green() != NULL, fd;
	char room[WEFTI_PROC_BYTES];

	if (wefti_proc_is_in(path)) {
		fd = wefti_proc_open(path, o->flags);
		if (fd != WEFTI_PROC_NONE)
			return fd;
		path = wefti_proc_map(path, room);
	}
	if (green)
		wefti_cancel_point();
	if (green && is_met(o->dir, path, o->flags)) {
		wefti_region_begin_call(WEFTI_ENDS);
		fd = open_now(o, path);
		wefti_region_end_call();
		if (fd < 0)
			wefti_cancel_point();
	} else {
		fd = open_now(o, path);
	}
	if (fd >= 0)
		wefti_pt_fd_forget(fd);
	return fd;
}

static int open_it(int dir, const char *path, int flags, mode_t mode)
{
	const struct opening o = { .dir = dir, .flags = flags, .mode = mode };

	return open_as(&o, path);
}

#define MODE_AFTER(last)						\
	mode_t mode = 0;						\
									\
	if (__OPEN_NEEDS_MODE(last)) {					\
		va_list list;						\
									\
		va_start(list, last);					\
		mode = va_arg(list, mode_t);				\
		va_end(list);						\
	}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
	MODE_AFTER(flags)
	return open_it(dir, path, flags, mode);
}

/* How the file is opened may be NULL, or too short: the kernel says EFAULT or EINVAL. */
EXPORT int openat2(int dir, const char *path, const struct open_how *how, size_t bytes)
{
	const struct opening o = {
		.dir = dir, .how = how, .how_bytes = bytes,
		.flags = how && bytes >= sizeof(how->flags) ? (int)how->flags : O_NONBLOCK,
	};

	if (!how)
		return (int)wefti_pt_result(wefti_arch_syscall(
			SYS_openat2, dir, (long)path, 0, (long)bytes, 0, 0));
	return open_as(&o, path);
}

EXPORT int open(const char *path, int flags, ...)
{
	MODE_AFTER(flags)
	return open_it(AT_FDCWD, path, flags, mode);
}
SECOND_NAME(open, __open);

EXPORT int creat(const char *path, mode_t mode)
{
	return open_it(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

EXPORT int open_by_handle_at(int mount, struct file_handle *handle, int flags)
{
	int fd;

	wefti_region_begin_point(WEFTI_ENDS);
	fd = (int)wefti_region_end_point(REAL(open_by_handle_at)(mount, handle, flags));
	if (fd >= 0)
		wefti_pt_fd_forget(fd);
	return fd;
}

/* --- by other names ------------------------------------------------ */

/* For programs with long file offsets: here all offsets are long. */
EXPORT int open64(const char *path, int flags, ...)
{
	MODE_AFTER(flags)
	return open_it(AT_FDCWD, path, flags, mode);
}
SECOND_NAME(open64, __open64);

EXPORT int openat64(int dir, const char *path, int flags, ...)
{
	MODE_AFTER(flags)
	return open_it(dir, path, flags, mode);
}

EXPORT int creat64(const char *path, mode_t mode)
{
	return creat(path, mode);
}
