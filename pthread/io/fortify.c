/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/fortify.c - the _FORTIFY_SOURCE variants of calls that wait
 *
 * libc's own variants check the size and call the kernel. If the size is wrong, ours call
 * libc's, which ends the program.
 */
#include "pthread/core/real.h"

EXPORT ssize_t __read_chk(int fd, void *buf, size_t bytes, size_t room)
{
	return bytes > room ? REAL(__read_chk)(fd, buf, bytes, room) :
			      read(fd, buf, bytes);
}

EXPORT ssize_t __pread_chk(int fd, void *buf, size_t bytes, off_t at,
			   size_t room)
{
	return bytes > room ? REAL(__pread_chk)(fd, buf, bytes, at, room) :
			      pread(fd, buf, bytes, at);
}

EXPORT ssize_t __pread64_chk(int fd, void *buf, size_t bytes, off_t at,
			     size_t room)
{
	return bytes > room ? REAL(__pread64_chk)(fd, buf, bytes, at, room) :
			      pread(fd, buf, bytes, at);
}

EXPORT ssize_t __recv_chk(int fd, void *buf, size_t bytes, size_t room,
			  int flags)
{
	return bytes > room ? REAL(__recv_chk)(fd, buf, bytes, room, flags) :
			      recv(fd, buf, bytes, flags);
}

EXPORT ssize_t __recvfrom_chk(int fd, void *buf, size_t bytes, size_t room,
			      int flags, __SOCKADDR_ARG from,
			      socklen_t *length)
{
	return bytes > room ?
	       REAL(__recvfrom_chk)(fd, buf, bytes, room, flags, from, length) :
	       recvfrom(fd, buf, bytes, flags, from, length);
}

EXPORT int __poll_chk(struct pollfd *fds, nfds_t count, int timeout,
		      size_t room)
{
	return count > room / sizeof(*fds) ?
	       REAL(__poll_chk)(fds, count, timeout, room) :
	       poll(fds, count, timeout);
}

EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count,
		       const struct timespec *time, const sigset_t *mask,
		       size_t room)
{
	return count > room / sizeof(*fds) ?
	       REAL(__ppoll_chk)(fds, count, time, mask, room) :
	       ppoll(fds, count, time, mask);
}

/* Flags that need a mode end the program, because there is no mode. */
EXPORT int __open_2(const char *path, int flags)
{
	return __OPEN_NEEDS_MODE(flags) ? REAL(__open_2)(path, flags) :
					  open(path, flags);
}

EXPORT int __open64_2(const char *path, int flags)
{
	return __OPEN_NEEDS_MODE(flags) ? REAL(__open64_2)(path, flags) :
					  open(path, flags);
}

EXPORT int __openat_2(int dir, const char *path, int flags)
{
	return __OPEN_NEEDS_MODE(flags) ? REAL(__openat_2)(dir, path, flags) :
					  openat(dir, path, flags);
}

EXPORT int __openat64_2(int dir, const char *path, int flags)
{
	return __OPEN_NEEDS_MODE(flags) ? REAL(__openat64_2)(dir, path, flags) :
					  openat(dir, path, flags);
}
