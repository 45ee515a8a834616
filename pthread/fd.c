/* SPDX-License-Identifier: MIT */
/* pthread/fd.c - calls that make, close and change descriptors */
#include "pthread/fd.h"

#include <stdarg.h>
#include <sys/ioctl.h>

#include "pthread/real.h"

_Atomic uint8_t wefti_pt_fds[WEFTI_FD_MOST];

EXPORT int close(int fd)
{
	wefti_pt_fd_forget(fd);
	return REAL(close)(fd);
}

EXPORT int dup2(int from, int to)
{
	wefti_pt_fd_forget(to);
	return REAL(dup2)(from, to);
}

EXPORT int dup3(int from, int to, int flags)
{
	wefti_pt_fd_forget(to);
	return REAL(dup3)(from, to, flags);
}

EXPORT int socket(int family, int type, int protocol)
{
	return wefti_pt_fd_made_socket(REAL(socket)(family, type, protocol));
}

EXPORT int socketpair(int family, int type, int protocol, int fd[2])
{
	int status = REAL(socketpair)(family, type, protocol, fd);

	if (status == 0) {
		wefti_pt_fd_made_socket(fd[0]);
		wefti_pt_fd_made_socket(fd[1]);
	}
	return status;
}

EXPORT int setsockopt(int fd, int level, int option, const void *value,
		      socklen_t length)
{
	if (level == SOL_SOCKET)
		wefti_pt_fd_doubt(fd, WEFTI_FD_NO_RCVTIMEO |
				      WEFTI_FD_NO_SNDTIMEO);
	return REAL(setsockopt)(fd, level, option, value, length);
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	void *arg;

	va_start(list, request);
	arg = va_arg(list, void *);
	va_end(list);
	if (request == FIONBIO)
		wefti_pt_fd_doubt(fd, WEFTI_FD_BLOCKS);
	return REAL(ioctl)(fd, request, arg);
}
