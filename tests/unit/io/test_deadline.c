/* SPDX-License-Identifier: MIT */
/* test_deadline.c - io/read, io/message: a deadline ends each call that has one,
 * nothing was transferred by then, and the next call does what it should */
#include <fcntl.h>
#include <unistd.h>

#include "loop.h"

#define BYTES	1000

/* Two parts, so that readv() and the messages have several. */
struct parts {
	char first[BYTES / 4], second[BYTES - BYTES / 4];
};

/* A call that takes at most BYTES, or gives as many, before the deadline. */
typedef ssize_t call_fn(int fd, struct parts *p, int64_t deadline);

static void split(struct parts *p, struct iovec iov[2])
{
	iov[0] = (struct iovec){ p->first, sizeof(p->first) };
	iov[1] = (struct iovec){ p->second, sizeof(p->second) };
}

static ssize_t call_readv(int fd, struct parts *p, int64_t deadline)
{
	struct iovec iov[2];

	split(p, iov);
	return weft_readv_until(fd, iov, 2, deadline);
}

static ssize_t call_recvfrom(int fd, struct parts *p, int64_t deadline)
{
	return weft_recvfrom_until(fd, p, sizeof(*p), 0, NULL, NULL, deadline);
}

static ssize_t call_recvmsg(int fd, struct parts *p, int64_t deadline)
{
	struct iovec iov[2];
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };

	split(p, iov);
	return weft_recvmsg_until(fd, &msg, 0, deadline);
}

static ssize_t call_sendto(int fd, struct parts *p, int64_t deadline)
{
	return weft_sendto_until(fd, p, sizeof(*p), 0, NULL, 0, deadline);
}

static ssize_t call_sendmsg(int fd, struct parts *p, int64_t deadline)
{
	struct iovec iov[2];
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };

	split(p, iov);
	return weft_sendmsg_until(fd, &msg, 0, deadline);
}

static call_fn *const takes[] = { call_readv, call_recvfrom, call_recvmsg };
static call_fn *const gives[] = { call_sendto, call_sendmsg };

#define TAKES	(sizeof(takes) / sizeof(takes[0]))
#define GIVES	(sizeof(gives) / sizeof(gives[0]))
#define KINDS	6

/* Streams and datagrams of weft's, and others' with and without O_NONBLOCK. */
static void make_ends(size_t kind, int fd[2])
{
	int type = kind % 2 ? SOCK_DGRAM : SOCK_STREAM;

	if (kind / 2 == 0)
		must(weft_socketpair(AF_UNIX, type, 0, fd) == 0);
	else
		must(socketpair(AF_UNIX, type | SOCK_CLOEXEC |
				(kind / 2 == 1 ? 0 : SOCK_NONBLOCK), 0,
				fd) == 0);
}

static void close_ends(const int fd[2])
{
	must(weft_close(fd[0]) == 0);
	must(weft_close(fd[1]) == 0);
}

static void fill_parts(struct parts *p, size_t seed)
{
	for (size_t i = 0; i < sizeof(*p); i++)
		((char *)p)[i] = (char)(i * 7 + seed);
}

struct ending {
	call_fn *call;
	int fd;
};

/* Not before the deadline, whether it is to come or has passed; or at once. */
static void *end_by_deadlines(void *arg)
{
	const struct ending *e = arg;
	struct parts p;

	fill_parts(&p, 0);
	for (int i = 0; i < 2; i++) {
		int64_t deadline = weft_clock() + 1000000;

		must(e->call(e->fd, &p, deadline) == -ETIMEDOUT);
		must(weft_clock() >= deadline);
		must(e->call(e->fd, &p, deadline) == -ETIMEDOUT);
		must(e->call(e->fd, &p, WEFT_NO_WAIT) == -EAGAIN);
	}
	return NULL;
}

static void run_ending(call_fn *call, int fd)
{
	struct ending e = { call, fd };

	for (int i = 0; i < 2; i++)
		join(spawn_with(i ? WEFT_LIGHT : 0, end_by_deadlines, &e));
}

struct later {
	call_fn *call;
	int fd;
	struct parts p;
};

static void *call_later(void *arg)
{
	struct later *l = arg;

	(void)weft_sleep(500000);
	must(l->call(l->fd, &l->p, WEFT_FOREVER) == BYTES);
	return NULL;
}

static void a_call_that_receives_ends_and_then_receives(void)
{
	runtime_begin();
	for (size_t i = 0; i < TAKES * KINDS; i++) {
		struct later l = { .call = call_sendto };
		struct parts got;
		uint64_t id;
		int fd[2];

		make_ends(i / TAKES, fd);
		run_ending(takes[i % TAKES], fd[0]);
		l.fd = fd[1];
		fill_parts(&l.p, i);
		id = spawn(call_later, &l);
		must(takes[i % TAKES](fd[0], &got, INT64_MAX - 1) == BYTES);
		must(memcmp(&got, &l.p, BYTES) == 0);
		join(id);
		run_ending(takes[i % TAKES], fd[0]);
		close_ends(fd);
	}
	runtime_end();
}

/* Until there is room for nothing. Returns how many bytes that are. */
static size_t fill(int fd)
{
	struct parts p;
	size_t all = 0;
	ssize_t n;

	fill_parts(&p, 0);
	while ((n = call_sendto(fd, &p, WEFT_NO_WAIT)) > 0)
		all += (size_t)n;
	must(n == -EAGAIN);
	return all;
}

/* What was sent before is all there, and nothing of what was not. */
static size_t drain(int fd)
{
	struct parts p;
	size_t all = 0;
	ssize_t n;

	while ((n = call_recvfrom(fd, &p, WEFT_NO_WAIT)) > 0)
		all += (size_t)n;
	must(n == -EAGAIN);
	return all;
}

static void a_call_that_sends_ends_and_then_sends(void)
{
	runtime_begin();
	for (size_t i = 0; i < GIVES * KINDS; i++) {
		struct later l = { .call = gives[i % GIVES] };
		struct parts got;
		size_t sent;
		uint64_t id;
		int fd[2];

		make_ends(i / GIVES, fd);
		sent = fill(fd[1]);
		run_ending(l.call, fd[1]);
		l.fd = fd[1];
		fill_parts(&l.p, i);
		CU_ASSERT_EQUAL(drain(fd[0]), sent);
		id = spawn(call_later, &l);
		must(call_readv(fd[0], &got, INT64_MAX - 1) == BYTES);
		must(memcmp(&got, &l.p, BYTES) == 0);
		join(id);

		/* It waits now, and there is room before the deadline. */
		sent = fill(fd[1]);
		id = spawn(call_later, &l);
		(void)weft_sleep(1000000);
		for (size_t left = sent + BYTES; left > 0; )
			left -= (size_t)call_recvfrom(fd[0], &got,
						      WEFT_FOREVER);
		join(id);
		CU_ASSERT_EQUAL(drain(fd[0]), 0);
		close_ends(fd);
	}
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(a_call_that_receives_ends_and_then_receives),
	TEST(a_call_that_sends_ends_and_then_sends),
};

TEST_MAIN("io/deadline", cases)
