/* SPDX-License-Identifier: MIT */
/* test_read.c - io/read, io/write: wait for what is not there, and no longer */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "loop.h"

#define BYTES	(1 << 20)

/* The ways to get two ends that are connected. */
static void weft_pipe_ends(int fd[2])
{
	must(weft_pipe(fd, 0) == 0);
}

static void weft_socket_ends(int fd[2])
{
	must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
}

static void plain_pipe_ends(int fd[2])
{
	must(pipe2(fd, O_CLOEXEC) == 0);
}

static void plain_socket_ends(int fd[2])
{
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) == 0);
}

static void adopted_pipe_ends(int fd[2])
{
	plain_pipe_ends(fd);
	must(weft_adopt(fd[0]) == 0);
	must(weft_adopt(fd[1]) == 0);
}

static void nonblocking_plain_ends(int fd[2])
{
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd) == 0);
}

static void (*const make_ends[])(int fd[2]) = {
	weft_pipe_ends, weft_socket_ends, plain_pipe_ends, plain_socket_ends,
	adopted_pipe_ends, nonblocking_plain_ends,
};

#define KINDS	(sizeof(make_ends) / sizeof(make_ends[0]))

static void close_ends(const int fd[2])
{
	CU_ASSERT_EQUAL(weft_close(fd[0]), 0);
	CU_ASSERT_EQUAL(weft_close(fd[1]), 0);
}

struct stream {
	int fd;
	size_t bytes;
	uint64_t seed;
};

static void *write_stream(void *arg)
{
	struct stream *s = arg;
	uint64_t random = s->seed;
	char *buf = malloc(70000);
	size_t at = 0;

	must(buf != NULL);
	while (at < s->bytes) {
		size_t n = 1 + test_random_below(&random, 70000);

		if (n > s->bytes - at)
			n = s->bytes - at;
		for (size_t i = 0; i < n; i++)
			buf[i] = (char)((at + i) * 7 % 251);
		must(weft_write(s->fd, buf, n) == (ssize_t)n);
		at += n;
	}
	free(buf);
	return NULL;
}

static void *read_stream(void *arg)
{
	struct stream *s = arg;
	char *buf = malloc(30000);
	size_t at = 0;

	must(buf != NULL);
	while (at < s->bytes) {
		ssize_t n = weft_read(s->fd, buf, 30000);

		must(n > 0);
		for (ssize_t i = 0; i < n; i++)
			must(buf[i] == (char)((at + (size_t)i) * 7 % 251));
		at += (size_t)n;
	}
	free(buf);
	return NULL;
}

static void every_byte_arrives_in_order_on_all_kinds_of_descriptors(void)
{
	runtime_begin();
	for (size_t i = 0; i < KINDS; i++) {
		int fd[2];
		uint64_t id[2];

		make_ends[i](fd);

		struct stream in = { fd[0], test_scaled(BYTES), 0 };
		struct stream out = { fd[1], in.bytes, test_seed(i) };

		id[0] = spawn_with(i % 2 ? WEFT_LIGHT : 0, read_stream, &in);
		id[1] = spawn_with(i % 2 ? 0 : WEFT_LIGHT, write_stream, &out);
		join(id[0]);
		join(id[1]);
		close_ends(fd);
	}
	runtime_end();
}

static void no_flag_of_an_open_file_is_changed(void)
{
	char byte;

	runtime_begin();
	for (size_t i = 2; i < KINDS; i++) {
		int fd[2], before;

		make_ends[i](fd);
		before = fcntl(fd[0], F_GETFL);
		CU_ASSERT_EQUAL(weft_read_until(fd[0], &byte, 1,
						weft_clock() + 1000000),
				-ETIMEDOUT);
		CU_ASSERT_EQUAL(weft_write(fd[1], "x", 1), 1);
		CU_ASSERT_EQUAL(weft_read(fd[0], &byte, 1), 1);
		CU_ASSERT_EQUAL(fcntl(fd[0], F_GETFL), before);
		close_ends(fd);
	}
	runtime_end();
}

static void deadlines_end_a_read_and_a_write(void)
{
	char buf[4096] = { 0 };

	runtime_begin();
	for (size_t i = 0; i < KINDS; i++) {
		int fd[2];
		int64_t until;
		ssize_t n;

		make_ends[i](fd);
		until = weft_clock() + 3000000;
		CU_ASSERT_EQUAL(weft_read_until(fd[0], buf, 1, until),
				-ETIMEDOUT);
		CU_ASSERT_TRUE(weft_clock() >= until);
		CU_ASSERT_EQUAL(weft_read_until(fd[0], buf, 1, WEFT_NO_WAIT),
				-EAGAIN);
		do {
			n = weft_write_until(fd[1], buf, sizeof(buf),
					     WEFT_NO_WAIT);
		} while (n > 0);
		CU_ASSERT_EQUAL(n, -EAGAIN);
		until = weft_clock() + 3000000;
		CU_ASSERT_EQUAL(weft_write_until(fd[1], buf, sizeof(buf),
						 until), -ETIMEDOUT);
		CU_ASSERT_TRUE(weft_clock() >= until);
		/* What is there is had although it is late. */
		CU_ASSERT_EQUAL(weft_read_until(fd[0], buf, 10, 1), 10);
		close_ends(fd);
	}
	runtime_end();
}

static void a_write_that_timed_out_says_how_much_it_wrote(void)
{
	size_t bytes = 4 << 20;
	char *buf = calloc(1, bytes);

	CU_ASSERT_PTR_NOT_NULL_FATAL(buf);
	runtime_begin();
	for (size_t i = 0; i < KINDS; i++) {
		int fd[2];
		ssize_t n, got = 0;

		make_ends[i](fd);
		n = weft_write_until(fd[1], buf, bytes, weft_clock() + 2000000);
		CU_ASSERT_TRUE(n > 0 && (size_t)n < bytes);
		CU_ASSERT_EQUAL(weft_close(fd[1]), 0);
		for (ssize_t m = 1; m > 0; got += m)
			m = weft_read(fd[0], buf, bytes);
		CU_ASSERT_EQUAL(got, n);
		CU_ASSERT_EQUAL(weft_close(fd[0]), 0);
	}
	runtime_end();
	free(buf);
}

static void *read_one(void *arg)
{
	char byte;

	return (void *)(intptr_t)weft_read(*(int *)arg, &byte, 1);
}

static void a_cancelled_read_ends_and_takes_nothing(void)
{
	runtime_begin();
	for (size_t i = 0; i < KINDS; i++) {
		int fd[2];
		uint64_t id;

		make_ends[i](fd);
		id = spawn(read_one, &fd[0]);
		rest();
		CU_ASSERT_EQUAL(weft_cancel(id), 0);
		CU_ASSERT_EQUAL((intptr_t)join(id), -ECANCELED);
		CU_ASSERT_EQUAL(weft_write(fd[1], "x", 1), 1);
		CU_ASSERT_EQUAL((intptr_t)read_one(&fd[0]), 1);
		close_ends(fd);
	}
	runtime_end();
}

static void pieces_are_read_and_written_as_one(void)
{
	char a[3], b[5], big[100000];
	struct iovec out[3] = {
		{ (char *)(uintptr_t)"abc", 3 }, { NULL, 0 },
		{ (char *)(uintptr_t)"defgh", 5 },
	};
	struct iovec in[2] = { { a, sizeof(a) }, { b, sizeof(b) } };

	memset(big, 1, sizeof(big));
	runtime_begin();
	for (size_t i = 0; i < KINDS; i++) {
		struct iovec large[2] = {
			{ big, sizeof(big) }, { big, sizeof(big) },
		};
		struct stream s = { 0, 0, 0 };
		int fd[2];
		uint64_t id;
		ssize_t got = 0;

		make_ends[i](fd);
		CU_ASSERT_EQUAL(weft_writev(fd[1], out, 3), 8);
		CU_ASSERT_EQUAL(weft_readv(fd[0], in, 2), 8);
		CU_ASSERT_EQUAL(memcmp(a, "abc", 3), 0);
		CU_ASSERT_EQUAL(memcmp(b, "defgh", 5), 0);
		CU_ASSERT_EQUAL(weft_readv(fd[0], in, -1), -EINVAL);
		CU_ASSERT_EQUAL(weft_read(fd[0], a, 0), 0);
		s.fd = fd[1];
		s.bytes = 1;
		id = spawn(write_stream, &s);
		join(id);
		CU_ASSERT_EQUAL(weft_read(fd[0], a, 1), 1);
		/* More than fits: written in parts, while it is read. */
		id = spawn(read_one, &fd[0]);
		got = weft_writev_until(fd[1], large, 2,
					weft_clock() + 2000000);
		CU_ASSERT_TRUE(got > 0 && got <= 200000);
		CU_ASSERT_EQUAL((intptr_t)join(id), 1);
		close_ends(fd);
	}
	runtime_end();
}

static void what_is_no_descriptor_is_an_error(void)
{
	char byte;
	int fd[2], high;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_read(-1, &byte, 1), -EBADF);
	CU_ASSERT_EQUAL(weft_read(19999, &byte, 1), -EBADF);
	CU_ASSERT_EQUAL(weft_read(1 << 30, &byte, 1), -EMFILE);
	CU_ASSERT_EQUAL(weft_close(19999), -EBADF);
	CU_ASSERT_EQUAL(weft_close(-1), -EBADF);
	CU_ASSERT_EQUAL(weft_adopt(19999), -EBADF);
	CU_ASSERT_EQUAL(weft_wait_fd(19999, POLLIN, WEFT_FOREVER), -EBADF);
	weft_pipe_ends(fd);
	CU_ASSERT_EQUAL(weft_read(fd[1], &byte, 1), -EBADF);
	CU_ASSERT_EQUAL(weft_write(fd[0], &byte, 1), -EBADF);
	CU_ASSERT_EQUAL(weft_close(fd[1]), 0);
	CU_ASSERT_EQUAL(weft_read(fd[0], &byte, 1), 0);
	/* A number that no other kernel thread gets in between. */
	must((high = fcntl(fd[0], F_DUPFD, 900)) >= 900);
	CU_ASSERT_EQUAL(weft_close(fd[0]), 0);
	CU_ASSERT_EQUAL(weft_close(high), 0);
	CU_ASSERT_EQUAL(weft_close(high), -EBADF);
	runtime_end();
}

static void without_a_runtime_the_kernel_thread_waits(void)
{
	int fd[2];
	char byte;

	weft_pipe_ends(fd);
	CU_ASSERT_EQUAL(weft_read_until(fd[0], &byte, 1,
					weft_clock() + 1000000), -ETIMEDOUT);
	CU_ASSERT_EQUAL(weft_write(fd[1], "x", 1), 1);
	CU_ASSERT_EQUAL(weft_wait_fd(fd[0], POLLIN, WEFT_FOREVER), POLLIN);
	CU_ASSERT_EQUAL(weft_read(fd[0], &byte, 1), 1);
	close_ends(fd);
}

static void nothing_is_left_open(void)
{
	size_t before = open_descriptors();

	every_byte_arrives_in_order_on_all_kinds_of_descriptors();
	CU_ASSERT_EQUAL(open_descriptors(), before);
}

static const struct test_case cases[] = {
	TEST(every_byte_arrives_in_order_on_all_kinds_of_descriptors),
	TEST(no_flag_of_an_open_file_is_changed),
	TEST(deadlines_end_a_read_and_a_write),
	TEST(a_write_that_timed_out_says_how_much_it_wrote),
	TEST(a_cancelled_read_ends_and_takes_nothing),
	TEST(pieces_are_read_and_written_as_one),
	TEST(what_is_no_descriptor_is_an_error),
	TEST(without_a_runtime_the_kernel_thread_waits),
	TEST(nothing_is_left_open),
};

TEST_MAIN("io/read", cases)
