/* SPDX-License-Identifier: MIT */
/* os/call/descriptor.c - the kernel's calls on descriptors */
#include "os/call/descriptor.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/format.h"
#include "os/call/clock.h"
#include "os/call/fatal.h"
#include "os/call/missing.h"
#include "os/call/root.h"
#include "syscall.h"

#define NS_PER_SECOND	1000000000

/*
 * The runtime's descriptors have numbers from here on, so the program gets the numbers
 * that it would have got without us. The numbers are below 64, the size of a table that
 * has not grown. With several kernel threads a growing table costs a grace period of the
 * kernel. During it all callers that make descriptors wait, and each VCPU needs a spare.
 */
#define HIGH		60

static long call(long number, long a, long b, long c, long d)
{
	return wefti_arch_syscall(number, a, b, c, d, 0, 0);
}

int wefti_os_fd_kind(int fd)
{
	struct stat st;
	long error = call(SYS_fstat, fd, (long)&st, 0, 0);

	if (error)
		return (int)error;
	if (S_ISSOCK(st.st_mode))
		return WEFTI_OS_SOCKET;
	return S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ||
	       S_ISBLK(st.st_mode) ? WEFTI_OS_FILE : WEFTI_OS_OTHER;
}

int wefti_os_fd_is_nonblocking(int fd)
{
	long flags = call(SYS_fcntl, fd, F_GETFL, 0, 0);

	return flags < 0 ? (int)flags : (flags & O_NONBLOCK) != 0;
}

void wefti_os_fd_set_nonblocking(int fd, int on)
{
	long flags = call(SYS_fcntl, fd, F_GETFL, 0, 0);

	if (flags >= 0)
		(void)call(SYS_fcntl, fd, F_SETFL, on ? flags | O_NONBLOCK :
						    flags & ~O_NONBLOCK, 0);
}

ssize_t wefti_os_fd_read(int fd, void *buf, size_t bytes)
{
	return call(SYS_read, fd, (long)buf, (long)bytes, 0);
}

ssize_t wefti_os_fd_write(int fd, const void *buf, size_t bytes)
{
	return call(SYS_write, fd, (long)buf, (long)bytes, 0);
}

ssize_t wefti_os_fd_readv(int fd, const struct iovec *iov, int count)
{
	return call(SYS_readv, fd, (long)iov, count, 0);
}

ssize_t wefti_os_fd_writev(int fd, const struct iovec *iov, int count)
{
	return call(SYS_writev, fd, (long)iov, count, 0);
}

ssize_t wefti_os_fd_pread(int fd, void *buf, size_t bytes, off_t at)
{
	return call(SYS_pread64, fd, (long)buf, (long)bytes, at);
}

ssize_t wefti_os_fd_preadv(int fd, const struct iovec *iov, int count, off_t at)
{
	return wefti_arch_syscall(SYS_preadv, fd, (long)iov, count, at, 0, 0);
}

ssize_t wefti_os_fd_pwrite(int fd, const void *buf, size_t bytes, off_t at)
{
	return call(SYS_pwrite64, fd, (long)buf, (long)bytes, at);
}

ssize_t wefti_os_fd_sendfile(int out, int in, off_t *at, size_t bytes)
{
	return call(SYS_sendfile, out, in, (long)at, (long)bytes);
}

int wefti_os_fd_fsync(int fd)
{
	return (int)call(SYS_fsync, fd, 0, 0, 0);
}

int wefti_os_fd_close(int fd)
{
#if defined(WEFT_TSAN)
	/* Sanitizers have to know that the number's next file is another one. */
	return close(fd) == 0 ? 0 : -errno;
#else
	return (int)call(SYS_close, fd, 0, 0, 0);
#endif
}

/* If the call is not available, it cannot be known either whether it would wait. */
static ssize_t at_once(long number, int fd, const struct iovec *iov, int count,
		       off_t at)
{
	/* 64-bit kernels take the whole offset from the first of two. */
	long ret = wefti_arch_syscall(number, fd, (long)iov, count, at, 0,
				      RWF_NOWAIT);

	return unlikely(wefti_os_is_missing(ret)) ? -EOPNOTSUPP : ret;
}

ssize_t wefti_os_fd_readv_at_once(int fd, const struct iovec *iov, int count,
				  off_t at)
{
	return at_once(SYS_preadv2, fd, iov, count, at);
}

ssize_t wefti_os_fd_writev_at_once(int fd, const struct iovec *iov, int count)
{
	return at_once(SYS_pwritev2, fd, iov, count, -1);
}

void wefti_os_fd_read_ahead(int fd, off_t at, size_t bytes)
{
	if (at < 0)
		at = call(SYS_lseek, fd, 0, SEEK_CUR, 0);
	if (at >= 0)
		(void)call(SYS_readahead, fd, at, (long)bytes, 0);
}

ssize_t wefti_os_fd_recv(int fd, void *buf, size_t bytes, int flags,
			 struct sockaddr *from, socklen_t *from_bytes)
{
	return wefti_arch_syscall(SYS_recvfrom, fd, (long)buf, (long)bytes,
				  flags, (long)from, (long)from_bytes);
}

ssize_t wefti_os_fd_send(int fd, const void *buf, size_t bytes, int flags,
			 const struct sockaddr *to, socklen_t to_bytes)
{
	return wefti_arch_syscall(SYS_sendto, fd, (long)buf, (long)bytes,
				  flags, (long)to, (long)to_bytes);
}

ssize_t wefti_os_fd_recvmsg(int fd, struct msghdr *msg, int flags)
{
	return call(SYS_recvmsg, fd, (long)msg, flags, 0);
}

ssize_t wefti_os_fd_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	return call(SYS_sendmsg, fd, (long)msg, flags, 0);
}

int wefti_os_fd_accept(int fd, struct sockaddr *addr, socklen_t *bytes,
		       int flags)
{
	return (int)call(SYS_accept4, fd, (long)addr, (long)bytes, flags);
}

int wefti_os_fd_connect(int fd, const struct sockaddr *addr, socklen_t bytes)
{
	return (int)call(SYS_connect, fd, (long)addr, (long)bytes, 0);
}

int wefti_os_fd_socket_error(int fd)
{
	int error = 0;
	socklen_t bytes = sizeof(error);
	long ret = wefti_arch_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_ERROR,
				      (long)&error, (long)&bytes, 0);

	return ret ? (int)ret : -error;
}

int wefti_os_fd_open(const char *path, int flags, mode_t mode)
{
	return (int)call(SYS_openat, AT_FDCWD, (long)path, flags, (long)mode);
}

int wefti_os_fd_socket(int domain, int type, int protocol)
{
	return (int)call(SYS_socket, domain, type, protocol, 0);
}

int wefti_os_fd_socketpair(int domain, int type, int protocol, int fd[2])
{
	return (int)call(SYS_socketpair, domain, type, protocol, (long)fd);
}

int wefti_os_fd_pipe(int fd[2], int flags)
{
	return (int)call(SYS_pipe2, (long)fd, flags, 0, 0);
}

int wefti_os_fd_move(int fd, int least)
{
	long up = call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, least, 0);

	if (up < 0)
		return fd;
	(void)wefti_os_fd_close(fd);
	return (int)up;
}

int wefti_os_fd_move_up(int fd)
{
	return wefti_os_fd_move(fd, HIGH);
}

/* Opens another process's descriptor; -ENXIO: it is of another type. */
static int open_of(int pid, int fd, int flags, mode_t type)
{
	struct stat st;
	long own = wefti_os_proc_open_again(pid, fd, flags | O_NONBLOCK | O_NOCTTY);

	if (own < 0)
		return (int)own;
	if (call(SYS_fstat, own, (long)&st, 0, 0) != 0 ||
	    (st.st_mode & S_IFMT) != type) {
		(void)wefti_os_fd_close((int)own);
		return -ENXIO;
	}
	return wefti_os_fd_move_up((int)own);
}

int wefti_os_fd_open_pipe_of(int pid, int fd)
{
	return open_of(pid, fd, O_RDWR, S_IFIFO);
}

int wefti_os_fd_open_file_of(int pid, int fd)
{
	return open_of(pid, fd, O_RDONLY, S_IFREG);
}

void wefti_os_fd_make_room(unsigned most)
{
	struct rlimit limit;
	long any, last;

	if (call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit) != 0)
		return;
	if (limit.rlim_cur < most)
		most = (unsigned)limit.rlim_cur;
	any = call(SYS_eventfd2, 0, EFD_CLOEXEC, 0, 0);
	if (any < 0)
		return;
	last = call(SYS_fcntl, any, F_DUPFD_CLOEXEC, (long)most - 1, 0);
	if (last >= 0)
		(void)call(SYS_close, last, 0, 0, 0);
	(void)call(SYS_close, any, 0, 0, 0);
}

/*
 * If only the older call is available: milliseconds. Not on all architectures. Without
 * both, no wait for a descriptor could end at the right time.
 */
static int poll_before(long n, struct pollfd *fds, nfds_t count,
		       const struct timespec *time)
{
#ifdef SYS_poll
	int64_t ms = time ? time->tv_sec * 1000 + (time->tv_nsec + 999999) /
			    1000000 : -1;

	if (unlikely(wefti_os_is_missing(n)))
		n = call(SYS_poll, (long)fds, (long)count,
			 ms > INT32_MAX ? INT32_MAX : ms, 0);
#else
	(void)fds;
	(void)count;
	(void)time;
#endif
	if (unlikely(wefti_os_is_missing(n)))
		wefti_os_fatal("ppoll", n);
	return (int)n;
}

int wefti_os_fd_poll(struct pollfd *fds, nfds_t count, int64_t deadline)
{
	struct timespec ts = { 0, 0 };

	if (deadline > 0 && deadline != INT64_MAX) {
		int64_t now = wefti_os_now_ns();

		if (deadline > now) {
			ts.tv_sec = (deadline - now) / NS_PER_SECOND;
			ts.tv_nsec = (deadline - now) % NS_PER_SECOND;
		}
	}
	return poll_before(wefti_arch_syscall(SYS_ppoll, (long)fds, (long)count,
					      deadline == INT64_MAX ? 0 :
					      (long)&ts, 0, 0, 0),
			   fds, count, deadline == INT64_MAX ? NULL : &ts);
}
