/* SPDX-License-Identifier: MIT */
/*
 * os/call/descriptor.h - the kernel's calls on descriptors
 *
 * They do what the kernel's calls do, but return a negative errno value and do not touch
 * errno. The kernel and the file decide which errors there are. All go to the caller.
 */
#ifndef WEFT_OS_CALL_DESCRIPTOR_H
#define WEFT_OS_CALL_DESCRIPTOR_H

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

enum wefti_os_kind {
	WEFTI_OS_OTHER,		/* a pipe, a terminal, an eventfd, ... */
	WEFTI_OS_SOCKET,
	WEFTI_OS_FILE,		/* regular, a folder, a disk: always ready */
};

/* Which kind fd is, or -EBADF. */
int wefti_os_fd_kind(int fd);

/* O_NONBLOCK of the open file: 1 or 0, or -EBADF. */
int wefti_os_fd_is_nonblocking(int fd);
void wefti_os_fd_set_nonblocking(int fd, int on);

ssize_t wefti_os_fd_read(int fd, void *buf, size_t bytes);
ssize_t wefti_os_fd_write(int fd, const void *buf, size_t bytes);
ssize_t wefti_os_fd_readv(int fd, const struct iovec *iov, int count);
ssize_t wefti_os_fd_writev(int fd, const struct iovec *iov, int count);
ssize_t wefti_os_fd_pread(int fd, void *buf, size_t bytes, off_t at);
ssize_t wefti_os_fd_preadv(int fd, const struct iovec *iov, int count, off_t at);
ssize_t wefti_os_fd_pwrite(int fd, const void *buf, size_t bytes, off_t at);
ssize_t wefti_os_fd_sendfile(int out, int in, off_t *at, size_t bytes);
int wefti_os_fd_fsync(int fd);
int wefti_os_fd_close(int fd);

/*
 * The same at `at` (-1: the file's position) without waiting. -EAGAIN: the call would
 * have to wait; -EOPNOTSUPP: for such a file this kernel cannot tell.
 */
ssize_t wefti_os_fd_readv_at_once(int fd, const struct iovec *iov, int count,
				  off_t at);
ssize_t wefti_os_fd_writev_at_once(int fd, const struct iovec *iov, int count);

/* The kernel begins to read these bytes at `at` (-1: the file's position), if it can. */
void wefti_os_fd_read_ahead(int fd, off_t at, size_t bytes);

ssize_t wefti_os_fd_recv(int fd, void *buf, size_t bytes, int flags,
			 struct sockaddr *from, socklen_t *from_bytes);
ssize_t wefti_os_fd_send(int fd, const void *buf, size_t bytes, int flags,
			 const struct sockaddr *to, socklen_t to_bytes);
ssize_t wefti_os_fd_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t wefti_os_fd_sendmsg(int fd, const struct msghdr *msg, int flags);
int wefti_os_fd_accept(int fd, struct sockaddr *addr, socklen_t *bytes,
		       int flags);
int wefti_os_fd_connect(int fd, const struct sockaddr *addr, socklen_t bytes);
int wefti_os_fd_socket_error(int fd);	/* SO_ERROR as 0 or -errno */

/* The caller adds O_NONBLOCK or SOCK_NONBLOCK to the flags if it wants that. */
int wefti_os_fd_open(const char *path, int flags, mode_t mode);
int wefti_os_fd_socket(int domain, int type, int protocol);
int wefti_os_fd_socketpair(int domain, int type, int protocol, int fd[2]);
int wefti_os_fd_pipe(int fd[2], int flags);

/*
 * Moves the file to the first free number from `least` on. Returns that, or fd if there
 * is none. The descriptor is closed at an exec.
 */
int wefti_os_fd_move(int fd, int least);

/* The same to a number that programs seldom use. */
int wefti_os_fd_move_up(int fd);

/*
 * Opens the pipe that another process has as its descriptor `fd`, for reading and
 * writing. So the pipe has a reader as long as it is open here. A negative errno value:
 * there is no such descriptor, it is not a pipe, or this user may not open it.
 */
int wefti_os_fd_open_pipe_of(int pid, int fd);

/* The same for a regular file, for reading. */
int wefti_os_fd_open_file_of(int pid, int fd);

#define WEFTI_OS_FDS	16384u	/* 128 KiB of the kernel's memory */

/*
 * Makes the process's table of descriptors as large as its limit, or `most` if that is
 * less. While there is one kernel thread, this takes no time. Later, with several kernel
 * threads, the table doubles when it is full, and each time the callers that need it wait
 * for a grace period of the kernel. A failure is not reported.
 */
void wefti_os_fd_make_room(unsigned most);

/* ppoll() without a mask, until the deadline (0: at once, INT64_MAX: none). */
int wefti_os_fd_poll(struct pollfd *fds, nfds_t count, int64_t deadline);

#endif
