/* SPDX-License-Identifier: MIT */
/* test_order_io.c - a signal before the end of a wait: descriptors, messages, children */
#include "order.h"

#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>

static int ends[2], pair[2], epoll;
static mqd_t queue;

static void read_pipe(void)
{
	char c;

	while (read(ends[0], &c, 1) != 1)
		;
}

static void write_pipe(void)
{
	if (write(ends[1], "x", 1) != 1)
		abort();
}

static void empty_pipe(void)
{
	char c;

	if (read(ends[0], &c, 1) != 1)
		abort();
}

static void poll_pipe(void)
{
	struct pollfd p = { .fd = ends[0], .events = POLLIN };

	while (poll(&p, 1, -1) != 1)
		;
	empty_pipe();
}

static void poll_two(void)
{
	struct pollfd p[2] = {
		{ .fd = pair[1], .events = POLLIN },
		{ .fd = ends[0], .events = POLLIN },
	};

	while (poll(p, 2, -1) != 1)
		;
	empty_pipe();
}

static void select_pipe(void)
{
	fd_set set;

	do {
		FD_ZERO(&set);
		FD_SET(ends[0], &set);
	} while (select(ends[0] + 1, &set, NULL, NULL, NULL) != 1);
	empty_pipe();
}

static void wait_epoll(void)
{
	struct epoll_event e;

	while (epoll_wait(epoll, &e, 1, -1) != 1)
		;
	empty_pipe();
}

static void receive(void)
{
	char c;

	while (recv(pair[1], &c, 1, 0) != 1)
		;
}

static void send_one(void)
{
	if (send(pair[0], "x", 1, 0) != 1)
		abort();
}

static void receive_message(void)
{
	char c[8];

	while (mq_receive(queue, c, sizeof(c), NULL) < 0)
		;
}

static void send_message(void)
{
	if (mq_send(queue, "x", 1, 0) != 0)
		abort();
}

static pid_t child;

static void make_child(void)
{
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
}

static void wait_child(void)
{
	while (waitpid(child, NULL, 0) != child)
		;
}

static void end_child(void)
{
	kill(child, SIGKILL);
}

static const struct way ways[] = {
	{ "read", NULL, read_pipe, write_pipe },
	{ "poll", NULL, poll_pipe, write_pipe },
	{ "poll of two", NULL, poll_two, write_pipe },
	{ "select", NULL, select_pipe, write_pipe },
	{ "epoll_wait", NULL, wait_epoll, write_pipe },
	{ "recv", NULL, receive, send_one },
	{ "mq_receive", NULL, receive_message, send_message },
	{ "waitpid", make_child, wait_child, end_child },
};

static void begin(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	struct mq_attr sizes = { .mq_maxmsg = 2, .mq_msgsize = 8 };
	char name[32];

	snprintf(name, sizeof(name), "/weft-order-%d", getpid());
	queue = mq_open(name, O_CREAT | O_RDWR, 0600, &sizes);
	mq_unlink(name);
	epoll = epoll_create1(0);
	if (pipe(ends) != 0 || epoll < 0 || queue < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &e) != 0)
		abort();
}

static void a_signal_before_the_end_of_a_wait_is_handled_first(void)
{
	begin();
	go_through_all(ways, sizeof(ways) / sizeof(*ways));
}

static const struct compare_case cases[] = {
	COMPARE(a_signal_before_the_end_of_a_wait_is_handled_first),
};

COMPARE_MAIN(cases)
