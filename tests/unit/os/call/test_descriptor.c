/* SPDX-License-Identifier: MIT */
/* test_descriptor.c - os/descriptor: the kernel's answers, errno as it was */
#include "os/call/descriptor.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/call/clock.h"
#include "support.h"

#define ERRNO_BEFORE	17

static int file, folder, null, ends[2], pair[2], closed;
static char buf[256];

static void begin(void)
{
	char path[] = "/tmp/weft-descriptor-XXXXXX";

	file = mkostemp(path, O_CLOEXEC);
	folder = open("/tmp", O_RDONLY | O_DIRECTORY);
	null = open("/dev/null", O_RDWR);
	CU_ASSERT_FATAL(file >= 0 && folder >= 0 && null >= 0);
	CU_ASSERT_EQUAL(unlink(path), 0);
	CU_ASSERT_EQUAL_FATAL(wefti_os_fd_pipe(ends, O_NONBLOCK), 0);
	CU_ASSERT_EQUAL_FATAL(wefti_os_fd_socketpair(AF_UNIX, SOCK_STREAM |
						     SOCK_NONBLOCK, 0, pair), 0);
	closed = fcntl(null, F_DUPFD, 200);
	close(closed);
	errno = ERRNO_BEFORE;
}

/* errno was not touched, whatever was refused. */
static void end(void)
{
	CU_ASSERT_EQUAL(errno, ERRNO_BEFORE);
	for (int i = 0; i < 2; i++) {
		close(ends[i]);
		close(pair[i]);
	}
	close(file);
	close(folder);
	close(null);
}

static void kinds_are_told_apart(void)
{
	begin();
	CU_ASSERT_EQUAL(wefti_os_fd_kind(file), WEFTI_OS_FILE);
	CU_ASSERT_EQUAL(wefti_os_fd_kind(folder), WEFTI_OS_FILE);
	CU_ASSERT_EQUAL(wefti_os_fd_kind(null), WEFTI_OS_OTHER);
	CU_ASSERT_EQUAL(wefti_os_fd_kind(ends[0]), WEFTI_OS_OTHER);
	CU_ASSERT_EQUAL(wefti_os_fd_kind(pair[0]), WEFTI_OS_SOCKET);
	CU_ASSERT_EQUAL(wefti_os_fd_kind(closed), -EBADF);
	CU_ASSERT_EQUAL(wefti_os_fd_kind(-1), -EBADF);
	end();
}

static void nonblocking_is_the_open_files(void)
{
	int twin;

	begin();
	twin = dup(ends[0]);
	CU_ASSERT_EQUAL(wefti_os_fd_is_nonblocking(ends[0]), 1);
	CU_ASSERT_EQUAL(wefti_os_fd_is_nonblocking(file), 0);
	wefti_os_fd_set_nonblocking(twin, 0);
	CU_ASSERT_EQUAL(wefti_os_fd_is_nonblocking(ends[0]), 0);
	CU_ASSERT_EQUAL(wefti_os_fd_is_nonblocking(ends[1]), 1);
	wefti_os_fd_set_nonblocking(ends[0], 1);
	CU_ASSERT_EQUAL(wefti_os_fd_is_nonblocking(twin), 1);
	/* The other flags stay. */
	CU_ASSERT_EQUAL(fcntl(file, F_SETFL, O_APPEND), 0);
	wefti_os_fd_set_nonblocking(file, 1);
	CU_ASSERT_EQUAL(fcntl(file, F_GETFL) & (O_APPEND | O_NONBLOCK),
			O_APPEND | O_NONBLOCK);
	wefti_os_fd_set_nonblocking(file, 0);
	CU_ASSERT_EQUAL(fcntl(file, F_GETFL) & (O_APPEND | O_NONBLOCK),
			O_APPEND);
	CU_ASSERT_EQUAL(wefti_os_fd_is_nonblocking(closed), -EBADF);
	wefti_os_fd_set_nonblocking(closed, 1);
	close(twin);
	end();
}

static void files_are_read_and_written_at_a_position_or_theirs(void)
{
	struct iovec two[2] = { { buf, 2 }, { buf + 2, 3 } };
	off_t at = 1;

	begin();
	CU_ASSERT_EQUAL(wefti_os_fd_write(file, "abcdef", 6), 6);
	CU_ASSERT_EQUAL(wefti_os_fd_pwrite(file, "XY", 2, 8), 2);
	CU_ASSERT_EQUAL(wefti_os_fd_read(file, buf, 9), 4);
	CU_ASSERT_EQUAL(memcmp(buf, "\0\0XY", 4), 0);
	CU_ASSERT_EQUAL(wefti_os_fd_read(file, buf, 9), 0);
	CU_ASSERT_EQUAL(wefti_os_fd_pread(file, buf, 3, 4), 3);
	CU_ASSERT_EQUAL(memcmp(buf, "ef\0", 3), 0);
	CU_ASSERT_EQUAL(wefti_os_fd_pread(file, buf, 3, 100), 0);
	CU_ASSERT_EQUAL(lseek(file, 0, SEEK_SET), 0);
	CU_ASSERT_EQUAL(wefti_os_fd_readv(file, two, 2), 5);
	CU_ASSERT_EQUAL(memcmp(buf, "abcde", 5), 0);
	CU_ASSERT_EQUAL(wefti_os_fd_writev(file, two, 2), 5);
	CU_ASSERT_EQUAL(lseek(file, 0, SEEK_CUR), 10);
	CU_ASSERT_EQUAL(wefti_os_fd_sendfile(pair[0], file, &at, 4), 4);
	CU_ASSERT_EQUAL(at, 5);
	CU_ASSERT_EQUAL(lseek(file, 0, SEEK_CUR), 10);
	CU_ASSERT_EQUAL(wefti_os_fd_recv(pair[1], buf, 9, 0, NULL, NULL), 4);
	CU_ASSERT_EQUAL(memcmp(buf, "bcde", 4), 0);
	CU_ASSERT_EQUAL(wefti_os_fd_fsync(file), 0);
	end();
}

static void what_cannot_be_read_or_written_is_an_error(void)
{
	struct iovec one = { buf, 1 };
	off_t at = 0;

	begin();
	CU_ASSERT_EQUAL(wefti_os_fd_read(closed, buf, 1), -EBADF);
	CU_ASSERT_EQUAL(wefti_os_fd_read(ends[1], buf, 1), -EBADF);
	CU_ASSERT_EQUAL(wefti_os_fd_write(ends[0], buf, 1), -EBADF);
	CU_ASSERT_EQUAL(wefti_os_fd_read(ends[0], buf, 1), -EAGAIN);
	CU_ASSERT_EQUAL(wefti_os_fd_read(folder, buf, 1), -EISDIR);
	CU_ASSERT_EQUAL(wefti_os_fd_write(ends[1], NULL, 1), -EFAULT);
	CU_ASSERT_EQUAL(wefti_os_fd_readv(file, &one, -1), -EINVAL);
	CU_ASSERT_EQUAL(wefti_os_fd_writev(file, &one, IOV_MAX + 1), -EINVAL);
	CU_ASSERT_EQUAL(wefti_os_fd_readv(file, &one, 0), 0);
	CU_ASSERT_EQUAL(wefti_os_fd_pread(ends[0], buf, 1, 0), -ESPIPE);
	CU_ASSERT_EQUAL(wefti_os_fd_pwrite(ends[1], buf, 1, 0), -ESPIPE);
	CU_ASSERT_EQUAL(wefti_os_fd_pread(file, buf, 1, -1), -EINVAL);
	CU_ASSERT_EQUAL(wefti_os_fd_sendfile(pair[0], closed, &at, 1), -EBADF);
	CU_ASSERT_EQUAL(wefti_os_fd_fsync(ends[0]), -EINVAL);
	CU_ASSERT_EQUAL(wefti_os_fd_fsync(closed), -EBADF);
	end();
}

/* -EAGAIN, or -EOPNOTSUPP: it may be so for any file, on some kernel. */
static int at_once(ssize_t got, ssize_t expected)
{
	if (got == expected || got == -EOPNOTSUPP ||
	    (expected > 0 && got == -EAGAIN))
		return 1;
	printf("    %zd, expected %zd or -EOPNOTSUPP\n", got, expected);
	return 0;
}

static void at_once_never_waits(void)
{
	struct iovec one = { buf, 8 };
	ssize_t n;

	begin();
	wefti_os_fd_set_nonblocking(ends[0], 0);
	wefti_os_fd_set_nonblocking(ends[1], 0);
	CU_ASSERT_TRUE(at_once(wefti_os_fd_readv_at_once(ends[0], &one, 1, -1),
			       -EAGAIN));
	while ((n = wefti_os_fd_writev_at_once(ends[1], &one, 1)) > 0)
		;
	CU_ASSERT_TRUE(at_once(n, -EAGAIN));
	CU_ASSERT_EQUAL(wefti_os_fd_write(file, "abcdefgh", 8), 8);
	n = wefti_os_fd_readv_at_once(file, &one, 1, 3);
	CU_ASSERT_TRUE(at_once(n, 5));
	CU_ASSERT_TRUE(n < 0 || memcmp(buf, "defgh", 5) == 0);
	CU_ASSERT_EQUAL(lseek(file, 0, SEEK_CUR), 8);
	lseek(file, 2, SEEK_SET);
	n = wefti_os_fd_readv_at_once(file, &one, 1, -1);
	CU_ASSERT_TRUE(at_once(n, 6));
	CU_ASSERT_EQUAL(lseek(file, 0, SEEK_CUR), n > 0 ? 8 : 2);
	CU_ASSERT_TRUE(at_once(wefti_os_fd_readv_at_once(closed, &one, 1, -1),
			       -EBADF));
	end();
}

static void sockets_say_what_is_wrong(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct sockaddr_un missing = { .sun_family = AF_UNIX };
	struct iovec one = { buf, 8 };
	struct msghdr msg = { .msg_iov = &one, .msg_iovlen = 1 };
	int fd, made[2] = { -7, -7 };

	begin();
	strcpy(missing.sun_path, "/nonexistent/socket");
	CU_ASSERT_EQUAL(wefti_os_fd_socket(12345, SOCK_STREAM, 0),
			-EAFNOSUPPORT);
	CU_ASSERT_EQUAL(wefti_os_fd_pipe(made, 1), -EINVAL);
	CU_ASSERT_TRUE(made[0] == -7 && made[1] == -7);
	CU_ASSERT_EQUAL(wefti_os_fd_socketpair(12345, SOCK_STREAM, 0, made),
			-EAFNOSUPPORT);
	fd = wefti_os_fd_socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	CU_ASSERT_EQUAL(wefti_os_fd_is_nonblocking(fd), 1);
	CU_ASSERT_EQUAL(wefti_os_fd_connect(fd, (struct sockaddr *)&missing,
					    sizeof(missing)), -ENOENT);
	CU_ASSERT_EQUAL(wefti_os_fd_accept(fd, NULL, NULL, 0), -EINVAL);
	CU_ASSERT_EQUAL(wefti_os_fd_accept(file, NULL, NULL, 0), -ENOTSOCK);
	CU_ASSERT_EQUAL(wefti_os_fd_socket_error(fd), 0);
	CU_ASSERT_EQUAL(wefti_os_fd_socket_error(file), -ENOTSOCK);
	CU_ASSERT_EQUAL(wefti_os_fd_socket_error(closed), -EBADF);
	CU_ASSERT_EQUAL(wefti_os_fd_close(fd), 0);
	CU_ASSERT_EQUAL(wefti_os_fd_close(fd), -EBADF);
#ifdef TEST_IS_SANITIZED
	errno = ERRNO_BEFORE;	/* it is libc's close() then */
#endif

	CU_ASSERT_EQUAL(wefti_os_fd_recv(pair[0], buf, 8, 0, NULL, NULL),
			-EAGAIN);
	CU_ASSERT_EQUAL(wefti_os_fd_recvmsg(pair[0], &msg, 0), -EAGAIN);
	CU_ASSERT_EQUAL(wefti_os_fd_sendmsg(pair[0], &msg, 0), 8);
	CU_ASSERT_EQUAL(wefti_os_fd_recvmsg(pair[1], &msg, MSG_PEEK), 8);
	CU_ASSERT_EQUAL(wefti_os_fd_send(file, buf, 1, 0, NULL, 0), -ENOTSOCK);
	CU_ASSERT_EQUAL(wefti_os_fd_send(pair[0], buf, 1, 0,
					 (struct sockaddr *)&any, sizeof(any)),
			-EISCONN);
	close(pair[1]);
	CU_ASSERT_EQUAL(wefti_os_fd_send(pair[0], buf, 1, MSG_NOSIGNAL, NULL,
					 0), -EPIPE);
	end();
}

static void a_connection_that_failed_says_so_once(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	socklen_t bytes = sizeof(to);
	struct pollfd p = { .events = POLLOUT };
	int fd, taken, error;

	begin();
	/* A port that is taken, and on which nobody listens. */
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	taken = wefti_os_fd_socket(AF_INET, SOCK_STREAM, 0);
	CU_ASSERT_EQUAL_FATAL(bind(taken, (struct sockaddr *)&to, bytes), 0);
	CU_ASSERT_EQUAL(getsockname(taken, (struct sockaddr *)&to, &bytes), 0);
	fd = wefti_os_fd_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	error = wefti_os_fd_connect(fd, (struct sockaddr *)&to, bytes);
	if (error == -EINPROGRESS) {
		p.fd = fd;
		CU_ASSERT_EQUAL(wefti_os_fd_poll(&p, 1, INT64_MAX), 1);
		error = wefti_os_fd_socket_error(fd);
	}
	CU_ASSERT_EQUAL(error, -ECONNREFUSED);
	CU_ASSERT_EQUAL(wefti_os_fd_socket_error(fd), 0);
	close(fd);
	close(taken);
	end();
}

static void paths_are_the_kernels(void)
{
	char path[PATH_MAX + 2];
	int fd;

	begin();
	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = 0;
	CU_ASSERT_EQUAL(wefti_os_fd_open(path, O_RDONLY, 0), -ENAMETOOLONG);
	CU_ASSERT_EQUAL(wefti_os_fd_open("", O_RDONLY, 0), -ENOENT);
	CU_ASSERT_EQUAL(wefti_os_fd_open(NULL, O_RDONLY, 0), -EFAULT);
	CU_ASSERT_EQUAL(wefti_os_fd_open("/tmp", O_WRONLY, 0), -EISDIR);
	CU_ASSERT_EQUAL(wefti_os_fd_open("/dev/null/x", O_RDONLY, 0),
			-ENOTDIR);
	fd = wefti_os_fd_open("/dev/null", O_RDONLY | O_CLOEXEC, 0);
	CU_ASSERT_TRUE(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
	CU_ASSERT_EQUAL(wefti_os_fd_close(fd), 0);
	end();
}

static void poll_waits_until_there_is_something_or_it_is_time(void)
{
	struct pollfd p[3] = { { .events = POLLIN }, { .events = POLLOUT } };
	int64_t now;

	begin();
	p[0].fd = ends[0];
	p[1].fd = ends[1];
	p[2].fd = closed;
	CU_ASSERT_EQUAL(wefti_os_fd_poll(p, 1, 0), 0);
	CU_ASSERT_EQUAL(wefti_os_fd_poll(p, 1, 1), 0);
	CU_ASSERT_EQUAL(wefti_os_fd_poll(p, 1, -5), 0);
	CU_ASSERT_EQUAL(wefti_os_fd_poll(NULL, 0, 0), 0);
	now = wefti_os_now_ns();
	CU_ASSERT_EQUAL(wefti_os_fd_poll(p, 1, now + 3000000), 0);
	CU_ASSERT_TRUE(wefti_os_now_ns() >= now + 3000000);
	CU_ASSERT_EQUAL(wefti_os_fd_poll(p, 3, INT64_MAX), 2);
	CU_ASSERT_TRUE(p[0].revents == 0 && p[1].revents == POLLOUT &&
		       p[2].revents == POLLNVAL);
	CU_ASSERT_EQUAL(wefti_os_fd_write(ends[1], "x", 1), 1);
	CU_ASSERT_EQUAL(wefti_os_fd_poll(p, 1, INT64_MAX - 1), 1);
	CU_ASSERT_EQUAL(wefti_os_fd_poll(p, 1, now), 1);
	CU_ASSERT_EQUAL(p[0].revents, POLLIN);
	end();
}

/* As the kernel says it; in a child with a table as small as it can be. */
static int has_room_for(int limit, unsigned most)
{
	struct rlimit few = { (rlim_t)limit, (rlim_t)limit };
	char line[128];
	int size = -1, free_before = dup(0);
	FILE *f;

	close(free_before);
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &few), 0);
	wefti_os_fd_make_room(most);
	f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof(line), f))
		(void)!sscanf(line, "FDSize: %d", &size);
	if (!f || fclose(f) != 0 || dup(0) != free_before)
		return -1;	/* one was left open */
	return size;
}

static int child_has_room_for(int limit, unsigned most)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		_exit(has_room_for(limit, most) / 64);
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) * 64 : -1;
}

static void there_is_room_for_as_many_as_are_allowed(void)
{
	CU_ASSERT_EQUAL(child_has_room_for(4096, 4096), 4096);
	CU_ASSERT_EQUAL(child_has_room_for(4096, 1000), 1024);
	CU_ASSERT_EQUAL(child_has_room_for(1000, 4096), 1024);
	CU_ASSERT_TRUE(child_has_room_for(4096, 0) < 1024);
	/* None is free: nothing happens. */
	CU_ASSERT_TRUE(child_has_room_for(3, 4096) < 1024);
}

static const struct test_case cases[] = {
	TEST(kinds_are_told_apart),
	TEST(nonblocking_is_the_open_files),
	TEST(files_are_read_and_written_at_a_position_or_theirs),
	TEST(what_cannot_be_read_or_written_is_an_error),
	TEST(at_once_never_waits),
	TEST(sockets_say_what_is_wrong),
	TEST(a_connection_that_failed_says_so_once),
	TEST(paths_are_the_kernels),
	TEST(poll_waits_until_there_is_something_or_it_is_time),
	TEST(there_is_room_for_as_many_as_are_allowed),
};

TEST_MAIN("os/descriptor", cases)
