/* SPDX-License-Identifier: MIT */
/* io/make.c - makes and closes descriptors */
#include <errno.h>

#include "io/table.h"
#include "os/call/descriptor.h"
#include "weft/io.h"
#include "weft/net.h"
#include "weft/runtime.h"

/*
 * No other thread has the open file yet: this is the one moment at which weft may
 * choose its flags. Returns it, or an error.
 */
static int admit(int fd)
{
	int kind = wefti_os_fd_kind(fd), error;

	if (kind != WEFTI_OS_FILE)
		wefti_os_fd_set_nonblocking(fd, 1);
	error = wefti_fd_made(fd, (unsigned)kind, kind == WEFTI_OS_FILE ? 0 :
			      WEFTI_FD_NONBLOCK);
	if (!error)
		return fd;
	(void)wefti_os_fd_close(fd);
	return error;
}

int weft_open(const char *path, int flags, mode_t mode)
{
	int fd;

	weft_block_begin();
	do {
		fd = wefti_os_fd_open(path, flags | O_CLOEXEC, mode);
	} while (fd == -EINTR);
	weft_block_end();
	return fd < 0 ? fd : admit(fd);
}

static int admit_both(int fd[2], const int made[2], unsigned kind)
{
	for (int i = 0; i < 2; i++) {
		int error = wefti_fd_made(made[i], kind, WEFTI_FD_NONBLOCK);

		if (error) {
			(void)wefti_os_fd_close(made[0]);
			(void)wefti_os_fd_close(made[1]);
			return error;
		}
	}
	fd[0] = made[0];
	fd[1] = made[1];
	return 0;
}

int weft_pipe(int fd[2], int flags)
{
	int made[2];
	int error = wefti_os_fd_pipe(made, flags | O_CLOEXEC | O_NONBLOCK);

	return error ? error : admit_both(fd, made, WEFTI_OS_OTHER);
}

int weft_socket(int domain, int type, int protocol)
{
	int fd = wefti_os_fd_socket(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC,
				    protocol);
	int error = fd < 0 ? fd : wefti_fd_made(fd, WEFTI_OS_SOCKET,
						WEFTI_FD_NONBLOCK);

	if (fd >= 0 && error)
		(void)wefti_os_fd_close(fd);
	return error ? error : fd;
}

int weft_socketpair(int domain, int type, int protocol, int fd[2])
{
	int made[2];
	int error = wefti_os_fd_socketpair(domain, type | SOCK_NONBLOCK |
					   SOCK_CLOEXEC, protocol, made);

	return error ? error : admit_both(fd, made, WEFTI_OS_SOCKET);
}

int weft_adopt(int fd)
{
	int kind = wefti_os_fd_kind(fd);
	int nonblocking = wefti_os_fd_is_nonblocking(fd);

	if (kind < 0 || nonblocking < 0)
		return -EBADF;
	return wefti_fd_made(fd, (unsigned)kind, nonblocking ?
			     WEFTI_FD_NONBLOCK : 0);
}

int weft_close(int fd)
{
	return wefti_fd_close(fd);
}
