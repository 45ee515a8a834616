/* SPDX-License-Identifier: MIT */
/*
 * test_write.c - io/write: it goes on until all is written, on each kind of
 * descriptor, and says how much that was when something ends it
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>

#include "../chan/crowd.h"
#include "loop.h"
#include "os/call/descriptor.h"

#define LARGE	(1 << 20)	/* more than a pipe takes */

/* Can the kernel tell without waiting? The linker puts this in place. */
static int cannot_tell;

ssize_t __real_wefti_os_fd_writev_at_once(int fd, const struct iovec *iov,
					  int count);
ssize_t __wrap_wefti_os_fd_writev_at_once(int fd, const struct iovec *iov,
					  int count);

ssize_t __wrap_wefti_os_fd_writev_at_once(int fd, const struct iovec *iov,
					  int count)
{
	return cannot_tell ? -EOPNOTSUPP :
	       __real_wefti_os_fd_writev_at_once(fd, iov, count);
}

static int fd[2];
static char *large;

/*
 * Pipes of weft's, and of others'; the kernel can tell of the others' or not.
 */
#define KINDS	3

static void begin(int kind)
{
	runtime_begin();
	cannot_tell = kind == 2;
	must((kind ? pipe2(fd, O_CLOEXEC) : weft_pipe(fd, 0)) == 0);
}

static void end(void)
{
	must(weft_close(fd[0]) == 0 && weft_close(fd[1]) == 0);
	cannot_tell = 0;
	runtime_end();
}

static size_t in_pipe(void)
{
	int n = -1;

	must(ioctl(fd[0], FIONREAD, &n) == 0);
	return (size_t)n;
}

static void fill(void)
{
	while (weft_write_until(fd[1], large, PIPE_BUF, WEFT_NO_WAIT) > 0)
		;
}

struct writing {
	struct iovec iov[5];
	int count;
	ssize_t n;
};

static void *write_it(void *arg)
{
	struct writing *w = arg;

	w->n = weft_writev(fd[1], w->iov, w->count);
	return NULL;
}

/* Pieces, which end where no system call does; each byte in its place. */
static void pieces_are_written_whole_to_a_slow_reader(void)
{
	static char buf[5000];

	for (int kind = 0; kind < KINDS; kind++) {
		struct writing w = { .iov = {
			{ NULL, 0 }, { large, 100001 }, { large, 0 },
			{ large + 100001, 3 }, { large + 100004, 200000 } },
			.count = 5 };
		size_t at = 0;
		uint64_t id;

		begin(kind);
		id = spawn_with(kind % 2 ? WEFT_LIGHT : 0, write_it, &w);
		crowd_await_parked(id);
		while (at < 300004) {
			ssize_t n = weft_read(fd[0], buf, sizeof(buf));

			must(n > 0);
			must(memcmp(buf, large + at, (size_t)n) == 0);
			at += (size_t)n;
		}
		join(id);
		CU_ASSERT_EQUAL(w.n, 300004);
		CU_ASSERT_EQUAL(in_pipe(), 0);
		end();
	}
}

static void a_part_tells_its_length_and_the_next_has_the_error(void)
{
	struct writing w = { .iov = { { large, LARGE } }, .count = 1 };
	uint64_t id;

	for (int kind = 0; kind < KINDS; kind++) {
		ssize_t n;

		begin(kind);
		n = weft_write_until(fd[1], large, LARGE, WEFT_NO_WAIT);
		CU_ASSERT_TRUE(n > 0 && n < LARGE);
		CU_ASSERT_EQUAL((size_t)n, in_pipe());
		fill();
		CU_ASSERT_EQUAL(weft_write_until(fd[1], large, LARGE,
						 WEFT_NO_WAIT), -EAGAIN);
		CU_ASSERT_EQUAL(weft_write_until(fd[1], large, LARGE, 1),
				-ETIMEDOUT);
		end();

		begin(kind);
		id = spawn(write_it, &w);
		crowd_await_parked(id);
		must(weft_cancel(id) == 0);
		join(id);
		CU_ASSERT_TRUE(w.n > 0 && w.n < LARGE);
		CU_ASSERT_EQUAL((size_t)w.n, in_pipe());
		end();

		/* Nobody can read any more; SIGPIPE is ignored here. */
		begin(kind);
		id = spawn(write_it, &w);
		crowd_await_parked(id);
		must(weft_close(fd[0]) == 0);
		join(id);
		CU_ASSERT_TRUE(w.n > 0 && w.n < LARGE);
		CU_ASSERT_EQUAL(weft_write(fd[1], large, 1), -EPIPE);
		must((fd[0] = dup(fd[1])) >= 0);	/* for end() */
		end();
	}
}

/* Written whole, or not at all: if there is room for less, the writer waits. */
static void a_short_write_to_a_pipe_is_not_split(void)
{
	static char buf[PIPE_BUF];

	for (int kind = 0; kind < KINDS; kind++) {
		size_t before;

		begin(kind);
		fill();
		before = in_pipe();
		must(weft_read(fd[0], buf, PIPE_BUF - 1) == PIPE_BUF - 1);
		CU_ASSERT_EQUAL(weft_write_until(fd[1], large, PIPE_BUF,
						 WEFT_NO_WAIT), -EAGAIN);
		CU_ASSERT_EQUAL(in_pipe(), before - (PIPE_BUF - 1));
		must(weft_read(fd[0], buf, 1) == 1);
		CU_ASSERT_EQUAL(weft_write(fd[1], large, PIPE_BUF), PIPE_BUF);
		end();
	}
}

static void nothing_is_written_as_nothing(void)
{
	struct iovec none[2] = { { NULL, 0 }, { large, 0 } };

	for (int kind = 0; kind < KINDS; kind++) {
		begin(kind);
		CU_ASSERT_EQUAL(weft_write(fd[1], large, 0), 0);
		CU_ASSERT_EQUAL(weft_writev(fd[1], none, 2), 0);
		CU_ASSERT_EQUAL(weft_writev(fd[1], none, 0), 0);
		CU_ASSERT_EQUAL(in_pipe(), 0);
		CU_ASSERT_EQUAL(weft_writev(fd[1], none, -1), -EINVAL);
		CU_ASSERT_EQUAL(weft_writev(fd[1], none, INT_MIN), -EINVAL);
		CU_ASSERT_EQUAL(weft_write(fd[0], large, 1), -EBADF);
		CU_ASSERT_EQUAL(weft_write(-1, large, 1), -EBADF);
		CU_ASSERT_EQUAL(weft_write(fd[1], NULL, 1), -EFAULT);
		/* Where there is no room for anything, too. */
		fill();
		CU_ASSERT_EQUAL(weft_write(fd[1], large, 0), 0);
		CU_ASSERT_EQUAL(weft_writev(fd[1], none, 2), 0);
		end();
	}
}

/* Nobody has to wait to be told that. */
static void what_cannot_be_written_to_is_an_error(void)
{
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	runtime_begin();
	must(timer >= 0);
	CU_ASSERT_EQUAL(weft_write(timer, large, 8), -EINVAL);
	CU_ASSERT_EQUAL(weft_write_until(timer, large, 8, WEFT_NO_WAIT),
			-EINVAL);
	must(weft_close(timer) == 0);
	runtime_end();
}

/* A file that takes nothing, one that takes a part, and what it took. */
static void a_file_says_what_it_took(void)
{
	struct rlimit limit, few;
	char path[64], buf[16];
	ssize_t n[3];
	int full, file;

	runtime_begin();
	must((full = weft_open("/dev/full", O_WRONLY, 0)) >= 0);
	CU_ASSERT_EQUAL(weft_write(full, large, 10), -ENOSPC);
	must(weft_close(full) == 0);

	snprintf(path, sizeof(path), "/tmp/weft-write-%d", (int)getpid());
	file = weft_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	must(file >= 0 && unlink(path) == 0);
	must(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	few = limit;
	few.rlim_cur = 5000;
	must(setrlimit(RLIMIT_FSIZE, &few) == 0);
	n[0] = weft_write(file, large, 4995);
	n[1] = weft_write(file, large + 4995, 10);
	n[2] = weft_write(file, large, 10);
	must(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CU_ASSERT_EQUAL(n[0], 4995);
	CU_ASSERT_EQUAL(n[1], 5);
	CU_ASSERT_EQUAL(n[2], -EFBIG);
	CU_ASSERT_EQUAL(weft_pread(file, buf, sizeof(buf), 4990), 10);
	CU_ASSERT_EQUAL(memcmp(buf, large + 4990, 10), 0);
	must(weft_close(file) == 0);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(pieces_are_written_whole_to_a_slow_reader),
	TEST(a_part_tells_its_length_and_the_next_has_the_error),
	TEST(a_short_write_to_a_pipe_is_not_split),
	TEST(nothing_is_written_as_nothing),
	TEST(what_cannot_be_written_to_is_an_error),
	TEST(a_file_says_what_it_took),
};

int main(void)
{
	int error;

	must(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
	must(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	large = malloc(LARGE);
	must(large != NULL);
	for (size_t i = 0; i < LARGE; i++)
		large[i] = (char)(i * 7 % 251);
	error = test_main("io/write", cases, sizeof(cases) / sizeof(cases[0]));
	free(large);
	return error;
}
