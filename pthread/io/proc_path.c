/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/proc_path.c - libc's functions that take a path
 *
 * All do what libc's do, except for the files of a green thread in /proc
 * (pthread/kthread/proc.c). A path that is relative to a descriptor goes to the kernel
 * unchanged. So do files that libc's functions open for themselves.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/call/newer.h"
#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/kthread/proc.h"
#include "syscall.h"

/* The path to ask the kernel about. */
#define MAPPED(path)							\
	char room_[WEFTI_PROC_BYTES];					\
									\
	if (wefti_proc_is_in(path))					\
		path = wefti_proc_map(path, room_)

/* Old libcs have no functions of these names. Their programs call __xstat(). */
static int ask_state(int dir, const char *path, struct stat *to, int flags)
{
	MAPPED(path);
	return (int)wefti_pt_result(wefti_arch_syscall(SYS_newfstatat, dir, (long)path,
						       (long)to, flags, 0, 0));
}

EXPORT int stat(const char *path, struct stat *to)
{
	return ask_state(AT_FDCWD, path, to, 0);
}

EXPORT int lstat(const char *path, struct stat *to)
{
	return ask_state(AT_FDCWD, path, to, AT_SYMLINK_NOFOLLOW);
}

EXPORT int fstatat(int dir, const char *path, struct stat *to, int flags)
{
	return ask_state(dir, path, to, flags);
}

EXPORT int __xstat(int version, const char *path, struct stat *to)
{
	(void)version;		/* there is only one */
	return ask_state(AT_FDCWD, path, to, 0);
}

EXPORT int __lxstat(int version, const char *path, struct stat *to)
{
	(void)version;
	return ask_state(AT_FDCWD, path, to, AT_SYMLINK_NOFOLLOW);
}

EXPORT int __fxstatat(int version, int dir, const char *path, struct stat *to,
		      int flags)
{
	(void)version;
	return ask_state(dir, path, to, flags);
}

EXPORT int statx(int dir, const char *path, int flags, unsigned mask,
		 struct statx *to)
{
	MAPPED(path);
	return REAL(statx)(dir, path, flags, mask, to);
}

EXPORT int access(const char *path, int mode)
{
	MAPPED(path);
	return (int)wefti_pt_result(wefti_arch_syscall(SYS_faccessat, AT_FDCWD,
						       (long)path, mode, 0, 0, 0));
}

EXPORT int faccessat(int dir, const char *path, int mode, int flags)
{
	MAPPED(path);
	return REAL(faccessat)(dir, path, mode, flags);
}

EXPORT ssize_t readlinkat(int dir, const char *path, char *to, size_t bytes)
{
	long result = wefti_proc_is_in(path) ? wefti_proc_readlink(path, to, bytes) :
					       WEFTI_PROC_NONE;
	MAPPED(path);

	return result != WEFTI_PROC_NONE ? result :
	       wefti_pt_result(wefti_arch_syscall(SYS_readlinkat, dir, (long)path,
						  (long)to, (long)bytes, 0, 0));
}

EXPORT ssize_t readlink(const char *path, char *to, size_t bytes)
{
	return readlinkat(AT_FDCWD, path, to, bytes);
}

EXPORT DIR *opendir(const char *path)
{
	MAPPED(path);
	return REAL(opendir)(path);
}

/* libc's function reads the mode and opens the file. Then our file takes its place. */
static FILE *open_made(const char *path, const char *mode)
{
	const int writes = mode[0] != 'r' || strchr(mode, '+') != NULL;
	const int cloexec = strchr(mode, 'e') ? O_CLOEXEC : 0;
	int fd = wefti_proc_open(path, cloexec | (!writes ? O_RDONLY :
			mode[0] == 'w' && !strchr(mode, '+') ? O_WRONLY : O_RDWR));
	FILE *f;

	if (fd < 0)
		return NULL;
	f = fdopen(fd, mode);
	if (!f)
		(void)!REAL(close)(fd);
	return f;
}

EXPORT FILE *fopen(const char *path, const char *mode)
{
	FILE *made = wefti_proc_is_in(path) ? open_made(path, mode) : NULL;
	MAPPED(path);

	return made ? made : REAL(fopen)(path, mode);
}
SECOND_NAME(fopen, fopen64);
SECOND_NAME(fopen, _IO_fopen);

/* --- by other names -------------------------------------------------- */

/* For programs with long file offsets: here all offsets are long. */
#define LONG_NAME(name, first)						\
	EXPORT __typeof__(name) name __attribute__((alias(#first)))

LONG_NAME(stat64, stat);
LONG_NAME(lstat64, lstat);
LONG_NAME(fstatat64, fstatat);
SECOND_NAME(__xstat, __xstat64);
SECOND_NAME(__lxstat, __lxstat64);
SECOND_NAME(__fxstatat, __fxstatat64);

int wefti_proc_syscall(long number, const long *a, long *result)
{
	const int named = number == SYS_openat || number == SYS_openat2 ||
			  number == SYS_newfstatat || number == SYS_faccessat ||
			  number == SYS_readlinkat || number == SYS_statx;
	const char *path = named ? (const char *)a[1] : NULL;

	if (likely(!wefti_proc_is_in(path)))
		return 0;
	switch (number) {
	case SYS_openat:
		*result = openat((int)a[0], path, (int)a[2], (mode_t)a[3]);
		return 1;
	case SYS_openat2:
		*result = openat2((int)a[0], path, (const struct open_how *)a[2],
				  (size_t)a[3]);
		return 1;
	case SYS_newfstatat:
		*result = fstatat((int)a[0], path, (struct stat *)a[2], (int)a[3]);
		return 1;
	case SYS_faccessat:
		*result = faccessat((int)a[0], path, (int)a[2], 0);
		return 1;
	case SYS_readlinkat:
		*result = readlinkat((int)a[0], path, (char *)a[2], (size_t)a[3]);
		return 1;
	default:
		*result = statx((int)a[0], path, (int)a[2], (unsigned)a[3],
				(struct statx *)a[4]);
		return 1;
	}
}
