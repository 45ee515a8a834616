/* SPDX-License-Identifier: MIT */
/* test_net.c - io/accept, io/message: connections and what goes over them */
#include <fcntl.h>
#include <sys/un.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "loop.h"

struct server {
	int fd;
	_Atomic size_t served;
};

/* Echoes until the peer has ended its side. */
static void *echo(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char buf[1000];
	ssize_t n;

	while ((n = weft_read(fd, buf, sizeof(buf))) > 0)
		if (weft_send(fd, buf, (size_t)n, MSG_NOSIGNAL) != n)
			break;
	must(weft_close(fd) == 0);
	return NULL;
}

static void *serve(void *arg)
{
	struct server *s = arg;
	const struct weft_attr attr = { .flags = WEFT_DETACHED };

	for (;;) {
		int fd = weft_accept(s->fd, NULL, NULL);

		if (fd == -EBADF)
			return NULL;
		must(fd >= 0);
		fetch_add_relaxed(&s->served, 1);
		must(weft_spawn(NULL, &attr, echo, (void *)(intptr_t)fd) == 0);
	}
}

struct client {
	struct sockaddr_in address;
	size_t rounds;
};

static void *talk(void *arg)
{
	struct client *c = arg;

	for (size_t i = 0; i < c->rounds; i++) {
		int fd = loop_connect(&c->address);
		char out[100], in[100];

		for (int k = 0; k < 5; k++) {
			memset(out, (int)i + k, sizeof(out));
			must(weft_send(fd, out, sizeof(out), 0) ==
			     (ssize_t)sizeof(out));
			must(weft_recv(fd, in, sizeof(in), MSG_WAITALL) ==
			     (ssize_t)sizeof(in));
			must(memcmp(in, out, sizeof(in)) == 0);
		}
		/* Half of it is closed; the other half says so. */
		must(shutdown(fd, SHUT_WR) == 0);
		must(weft_read(fd, in, sizeof(in)) == 0);
		must(weft_close(fd) == 0);
	}
	return NULL;
}

static void clients_are_served_whoever_made_the_sockets(int plain)
{
	struct server s = { .served = 0 };
	struct client c = { .rounds = test_scaled(50) };
	uint64_t server[3], client[8];

	runtime_begin();
	if (plain) {
		s.fd = socket(AF_INET, SOCK_STREAM, 0);
		loop_bind(s.fd, &c.address, 100);
	} else {
		s.fd = loop_listen(&c.address);
	}
	for (int i = 0; i < 3; i++)
		server[i] = spawn(serve, &s);
	for (int i = 0; i < 8; i++)
		client[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, talk, &c);
	for (int i = 0; i < 8; i++)
		join(client[i]);
	CU_ASSERT_EQUAL(weft_close(s.fd), 0);
	for (int i = 0; i < 3; i++)
		join(server[i]);
	CU_ASSERT_EQUAL(load_relaxed(&s.served), 8 * c.rounds);
	runtime_end_at_last();	/* for the last that echo */
}

static void a_server_of_three_threads_serves_eight_clients(void)
{
	size_t before = open_descriptors();

	clients_are_served_whoever_made_the_sockets(0);
	CU_ASSERT_EQUAL(open_descriptors(), before);
}

static void a_socket_that_blocks_can_listen_too(void)
{
	clients_are_served_whoever_made_the_sockets(1);
}

static void a_connection_that_is_refused_says_so(void)
{
	struct sockaddr_in address;
	int fd, plain;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_close(loop_listen(&address)), 0);
	fd = weft_socket(AF_INET, SOCK_STREAM, 0);
	plain = socket(AF_INET, SOCK_STREAM, 0);
	must(fd >= 0 && plain >= 0);
	CU_ASSERT_EQUAL(weft_connect(fd, (struct sockaddr *)&address,
				     sizeof(address)), -ECONNREFUSED);
	CU_ASSERT_EQUAL(weft_connect(plain, (struct sockaddr *)&address,
				     sizeof(address)), -ECONNREFUSED);
	CU_ASSERT_EQUAL(fcntl(plain, F_GETFL) & O_NONBLOCK, 0);
	CU_ASSERT_EQUAL(weft_close(fd), 0);
	CU_ASSERT_EQUAL(close(plain), 0);
	runtime_end();
}

static void an_accept_ends_at_its_deadline(void)
{
	struct sockaddr_in address;
	int fd;

	runtime_begin();
	fd = loop_listen(&address);
	CU_ASSERT_EQUAL(weft_accept_until(fd, NULL, NULL,
					  weft_clock() + 2000000), -ETIMEDOUT);
	CU_ASSERT_EQUAL(weft_accept_until(fd, NULL, NULL, WEFT_NO_WAIT),
			-EAGAIN);
	CU_ASSERT_EQUAL(weft_close(fd), 0);
	runtime_end();
}

static void *receive_datagrams(void *arg)
{
	int fd = *(int *)arg;
	struct sockaddr_in from;
	size_t count = 0;
	char buf[100];

	for (;;) {
		socklen_t bytes = sizeof(from);
		ssize_t n = weft_recvfrom(fd, buf, sizeof(buf), 0,
					  (struct sockaddr *)&from, &bytes);

		must(n >= 0 && from.sin_family == AF_INET);
		if (n == 0)
			return (void *)count;
		must(weft_sendto(fd, buf, (size_t)n, 0,
				 (struct sockaddr *)&from, bytes) == n);
		count++;
	}
}

static void datagrams_go_there_and_back(void)
{
	struct sockaddr_in there = loop_address(0), here = loop_address(0);
	socklen_t bytes = sizeof(there);
	char buf[100];
	int fd[2];
	uint64_t id;

	runtime_begin();
	for (int i = 0; i < 2; i++) {
		fd[i] = weft_socket(AF_INET, SOCK_DGRAM, 0);
		must(bind(fd[i], (struct sockaddr *)&here, sizeof(here)) == 0);
	}
	must(getsockname(fd[1], (struct sockaddr *)&there, &bytes) == 0);
	id = spawn(receive_datagrams, &fd[1]);
	for (size_t i = 1; i <= 50; i++) {
		struct iovec iov = { buf, sizeof(buf) };
		struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

		CU_ASSERT_EQUAL(weft_sendto(fd[0], buf, i, 0,
				(struct sockaddr *)&there, sizeof(there)),
				(ssize_t)i);
		CU_ASSERT_EQUAL(weft_recvmsg(fd[0], &msg, 0), (ssize_t)i);
	}
	CU_ASSERT_EQUAL(weft_sendto(fd[0], buf, 0, 0,
			(struct sockaddr *)&there, sizeof(there)), 0);
	CU_ASSERT_EQUAL((size_t)join(id), 50);
	CU_ASSERT_EQUAL(weft_close(fd[0]), 0);
	CU_ASSERT_EQUAL(weft_close(fd[1]), 0);
	runtime_end();
}

/* A descriptor goes over as well, and both kinds of sockets take messages. */
static void messages_carry_descriptors(void)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 'x';
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int fd[2], in[2], got;

	runtime_begin();
	must(weft_pipe(in, 0) == 0);
	must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &in[0], sizeof(int));
	CU_ASSERT_EQUAL(weft_sendmsg(fd[0], &msg, 0), 1);
	CU_ASSERT_EQUAL(weft_recvmsg(fd[1], &msg, 0), 1);
	memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	CU_ASSERT_EQUAL(weft_recvmsg(fd[1], &msg, MSG_WAITALL), -EINVAL);
	CU_ASSERT_EQUAL(weft_recvmsg(fd[1], &msg, MSG_DONTWAIT), -EAGAIN);
	CU_ASSERT_EQUAL(weft_write(in[1], "y", 1), 1);
	CU_ASSERT_EQUAL(weft_read(got, &byte, 1), 1);
	CU_ASSERT_EQUAL(byte, 'y');
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(weft_close(fd[i]), 0);
		CU_ASSERT_EQUAL(weft_close(in[i]), 0);
	}
	CU_ASSERT_EQUAL(weft_close(got), 0);
	runtime_end();
}

static void *urgent(void *arg)
{
	int fd = *(int *)arg;

	return (void *)(intptr_t)weft_wait_fd(fd, POLLPRI, WEFT_FOREVER);
}

static void *ordinary(void *arg)
{
	char buf[10];

	return (void *)(intptr_t)weft_read(*(int *)arg, buf, sizeof(buf));
}

/* Each is woken for what it waits for, whoever began first. */
static void urgent_data_does_not_wait_for_who_reads(void)
{
	struct sockaddr_in address;
	int server, a, b;

	runtime_begin();
	server = loop_listen(&address);
	a = loop_connect(&address);
	b = weft_accept(server, NULL, NULL);
	must(b >= 0);
	for (int first = 0; first < 2; first++) {
		uint64_t id[2];

		for (int i = 0; i < 2; i++)
			id[i ^ first] = spawn(i ^ first ? urgent : ordinary,
					      &b);
		rest();
		CU_ASSERT_EQUAL(weft_send(a, "n", 1, 0), 1);
		CU_ASSERT_EQUAL((intptr_t)join(id[0]), 1);
		CU_ASSERT_EQUAL(weft_send(a, "u", 1, MSG_OOB), 1);
		CU_ASSERT_TRUE((intptr_t)join(id[1]) & POLLPRI);

		char byte;

		CU_ASSERT_EQUAL(weft_recv(b, &byte, 1, MSG_OOB), 1);
	}
	CU_ASSERT_EQUAL(weft_close(a), 0);
	CU_ASSERT_EQUAL(weft_close(b), 0);
	CU_ASSERT_EQUAL(weft_close(server), 0);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(a_server_of_three_threads_serves_eight_clients),
	TEST(a_socket_that_blocks_can_listen_too),
	TEST(a_connection_that_is_refused_says_so),
	TEST(an_accept_ends_at_its_deadline),
	TEST(datagrams_go_there_and_back),
	TEST(messages_carry_descriptors),
	TEST(urgent_data_does_not_wait_for_who_reads),
};

TEST_MAIN("io/net", cases)
