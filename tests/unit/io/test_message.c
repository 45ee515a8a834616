/* SPDX-License-Identifier: MIT */
/*
 * test_message.c - io/message: what each flag means, and how much was sent or
 * received when a call ends early
 */
#include <signal.h>

#include "../chan/crowd.h"
#include "loop.h"

#define LARGE	(4 << 20)	/* more than a socket takes */

static int fd[2];
static char *large;

static void begin(int type)
{
	runtime_begin();
	must(weft_socketpair(AF_UNIX, type, 0, fd) == 0);
}

static void end(void)
{
	must(weft_close(fd[0]) == 0 && weft_close(fd[1]) == 0);
	runtime_end();
}

static void put(const char *text)
{
	must(weft_send(fd[1], text, strlen(text), 0) == (ssize_t)strlen(text));
}

/* What a call gave is this; nothing was written behind it. */
static void expect_text(const char *got, ssize_t n, const char *text)
{
	CU_ASSERT_EQUAL(n, (ssize_t)strlen(text));
	CU_ASSERT_EQUAL(memcmp(got, text, strlen(text)), 0);
	CU_ASSERT_EQUAL(got[strlen(text)], '#');
}

static void expect_recv(size_t bytes, int flags, const char *text)
{
	char buf[64];

	memset(buf, '#', sizeof(buf));
	expect_text(buf, weft_recv(fd[0], buf, bytes, flags), text);
}

static void dontwait_is_no_wait_whatever_the_deadline(void)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	begin(SOCK_STREAM);
	CU_ASSERT_EQUAL(weft_recv(fd[0], &byte, 1, MSG_DONTWAIT), -EAGAIN);
	CU_ASSERT_EQUAL(weft_recv_until(fd[0], &byte, 1, MSG_DONTWAIT, 1),
			-EAGAIN);
	CU_ASSERT_EQUAL(weft_recv(fd[0], &byte, 1, MSG_DONTWAIT | MSG_WAITALL),
			-EAGAIN);
	CU_ASSERT_EQUAL(weft_recvmsg(fd[0], &msg, MSG_DONTWAIT), -EAGAIN);
	while (weft_send(fd[1], large, LARGE, MSG_DONTWAIT) > 0)
		;
	CU_ASSERT_EQUAL(weft_send(fd[1], large, LARGE, MSG_DONTWAIT), -EAGAIN);
	iov = (struct iovec){ large, LARGE };
	CU_ASSERT_EQUAL(weft_sendmsg(fd[1], &msg, MSG_DONTWAIT), -EAGAIN);
	end();
}

static void a_peek_takes_nothing_and_does_not_wait_for_all(void)
{
	begin(SOCK_STREAM);
	put("abc");
	expect_recv(10, MSG_PEEK, "abc");
	expect_recv(2, MSG_PEEK, "ab");
	expect_recv(10, MSG_PEEK | MSG_WAITALL, "abc");
	expect_recv(2, MSG_PEEK | MSG_WAITALL, "ab");
	expect_recv(10, 0, "abc");
	end();
}

struct receiver {
	size_t bytes;
	int64_t deadline;
	char buf[64];
	ssize_t n;
};

static void *receive_all(void *arg)
{
	struct receiver *r = arg;

	memset(r->buf, '#', sizeof(r->buf));
	r->n = weft_recv_until(fd[0], r->buf, r->bytes, MSG_WAITALL,
			       r->deadline);
	return NULL;
}

/* All of it, or what there was when something else ended the call. */
static void waitall_goes_on_until_all_is_there(void)
{
	struct receiver r = { .bytes = 6, .deadline = WEFT_FOREVER };
	uint64_t id;

	begin(SOCK_STREAM);
	put("abcdefgh");
	receive_all(&r);
	expect_text(r.buf, r.n, "abcdef");
	id = spawn(receive_all, &r);		/* there is "gh" */
	crowd_await_parked(id);
	put("ijk");
	put("lm");
	join(id);
	expect_text(r.buf, r.n, "ghijkl");
	expect_recv(10, 0, "m");

	put("abc");
	r.deadline = 1;
	receive_all(&r);
	expect_text(r.buf, r.n, "abc");
	receive_all(&r);
	CU_ASSERT_EQUAL(r.n, -ETIMEDOUT);
	put("abc");
	r.deadline = WEFT_NO_WAIT;
	receive_all(&r);
	expect_text(r.buf, r.n, "abc");
	receive_all(&r);
	CU_ASSERT_EQUAL(r.n, -EAGAIN);

	r.deadline = WEFT_FOREVER;
	put("abcd");
	id = spawn(receive_all, &r);
	crowd_await_parked(id);
	must(weft_cancel(id) == 0);
	join(id);
	expect_text(r.buf, r.n, "abcd");

	put("ab");
	must(shutdown(fd[1], SHUT_WR) == 0);
	receive_all(&r);
	expect_text(r.buf, r.n, "ab");
	receive_all(&r);
	CU_ASSERT_EQUAL(r.n, 0);
	end();
}

/* Datagrams are whole; of one that is too long its length can be asked for. */
static void a_datagram_is_one_message(void)
{
	struct iovec iov[2];
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	char a[2], b[64];

	begin(SOCK_DGRAM);
	put("abcdef");
	put("gh");
	put("ijkl");
	expect_recv(3, 0, "abc");
	expect_recv(10, 0, "gh");
	memset(b, '#', sizeof(b));
	CU_ASSERT_EQUAL(weft_recv(fd[0], b, 2, MSG_TRUNC), 4);
	CU_ASSERT_EQUAL(memcmp(b, "ij#", 3), 0);
	/* A message of no bytes is not the end. */
	CU_ASSERT_EQUAL(weft_send(fd[1], NULL, 0, 0), 0);
	CU_ASSERT_EQUAL(weft_recv(fd[0], b, sizeof(b), 0), 0);
	CU_ASSERT_EQUAL(weft_recv(fd[0], b, sizeof(b), MSG_DONTWAIT), -EAGAIN);

	iov[0] = (struct iovec){ (char *)(uintptr_t)"ab", 2 };
	iov[1] = (struct iovec){ (char *)(uintptr_t)"cde", 3 };
	CU_ASSERT_EQUAL(weft_sendmsg(fd[1], &msg, 0), 5);
	iov[0] = (struct iovec){ a, sizeof(a) };
	iov[1] = (struct iovec){ b, 1 };
	CU_ASSERT_EQUAL(weft_recvmsg(fd[0], &msg, 0), 3);
	CU_ASSERT_EQUAL(msg.msg_flags & MSG_TRUNC, MSG_TRUNC);
	CU_ASSERT_TRUE(memcmp(a, "ab", 2) == 0 && b[0] == 'c');
	/* Too long for any: it is not sent in parts. */
	CU_ASSERT_EQUAL(weft_send(fd[1], large, LARGE, 0), -EMSGSIZE);
	CU_ASSERT_EQUAL(weft_recv(fd[0], b, sizeof(b), MSG_DONTWAIT), -EAGAIN);
	end();
}

struct sender {
	ssize_t n;
};

static void *send_large(void *arg)
{
	struct sender *s = arg;

	s->n = weft_send(fd[1], large, LARGE, MSG_NOSIGNAL);
	return NULL;
}

static ssize_t drain(void)
{
	static char buf[65536];
	ssize_t n, all = 0;

	while ((n = weft_recv(fd[0], buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		all += n;
	CU_ASSERT_TRUE(n == -EAGAIN || n == 0);
	return all;
}

/* By its deadline, a cancellation, or as the peer has gone. */
static void a_send_that_ends_early_says_how_much_it_sent(void)
{
	struct sender s;
	ssize_t n;
	uint64_t id;

	begin(SOCK_STREAM);
	n = weft_send_until(fd[1], large, LARGE, 0, 1);
	CU_ASSERT_TRUE(n > 0 && n < LARGE);
	CU_ASSERT_EQUAL(weft_send_until(fd[1], large, LARGE, 0, 1),
			-ETIMEDOUT);
	CU_ASSERT_EQUAL(drain(), n);

	id = spawn(send_large, &s);
	crowd_await_parked(id);
	must(weft_cancel(id) == 0);
	join(id);
	CU_ASSERT_TRUE(s.n > 0 && s.n < LARGE);
	CU_ASSERT_EQUAL(drain(), s.n);

	id = spawn(send_large, &s);
	crowd_await_parked(id);
	must(weft_close(fd[0]) == 0);
	join(id);
	CU_ASSERT_TRUE(s.n > 0 && s.n < LARGE);
	CU_ASSERT_EQUAL(weft_send(fd[1], "x", 1, MSG_NOSIGNAL), -EPIPE);
	must((fd[0] = dup(fd[1])) >= 0);	/* for end() */
	end();
}

static void wrong_sockets_and_flags_are_errors(void)
{
	struct iovec iov = { large, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int pipes[2], lonely, none[] = { -1, 0 };

	begin(SOCK_STREAM);
	must(weft_pipe(pipes, 0) == 0);
	must((lonely = weft_socket(AF_INET, SOCK_STREAM, 0)) >= 0);
	none[1] = pipes[0];
	for (int i = 0; i < 2; i++) {
		int error = i ? -ENOTSOCK : -EBADF;

		CU_ASSERT_EQUAL(weft_recv(none[i], large, 1, 0), error);
		CU_ASSERT_EQUAL(weft_recv(none[i], large, 1, MSG_WAITALL),
				error);
		CU_ASSERT_EQUAL(weft_send(none[i], large, 1, 0), error);
		CU_ASSERT_EQUAL(weft_recvmsg(none[i], &msg, 0), error);
		CU_ASSERT_EQUAL(weft_sendmsg(none[i], &msg, 0), error);
	}
	CU_ASSERT_EQUAL(weft_recv(lonely, large, 1, 0), -ENOTCONN);
	CU_ASSERT_EQUAL(weft_send(lonely, large, 1, MSG_NOSIGNAL), -EPIPE);
	CU_ASSERT_EQUAL(weft_recvmsg(fd[0], &msg, MSG_WAITALL), -EINVAL);
	CU_ASSERT_EQUAL(weft_recvmsg(-1, &msg, MSG_WAITALL), -EINVAL);
	put("abc");
	CU_ASSERT_EQUAL(weft_recv(fd[0], NULL, 2, 0), -EFAULT);
	expect_recv(10, 0, "abc");
	must(weft_close(pipes[0]) == 0 && weft_close(pipes[1]) == 0);
	must(weft_close(lonely) == 0);
	end();
}

static const struct test_case cases[] = {
	TEST(dontwait_is_no_wait_whatever_the_deadline),
	TEST(a_peek_takes_nothing_and_does_not_wait_for_all),
	TEST(waitall_goes_on_until_all_is_there),
	TEST(a_datagram_is_one_message),
	TEST(a_send_that_ends_early_says_how_much_it_sent),
	TEST(wrong_sockets_and_flags_are_errors),
};

int main(void)
{
	int error;

	large = calloc(1, LARGE);
	must(large != NULL);
	error = test_main("io/message", cases, sizeof(cases) /
			  sizeof(cases[0]));
	free(large);
	return error;
}
