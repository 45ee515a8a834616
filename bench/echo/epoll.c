/* SPDX-License-Identifier: MIT */
/* echo/epoll.c - the same server as event loops, a kernel thread a VCPU */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "echo/echo.h"

#define EVENTS	256

static int server;

static void add(int ep, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) != 0)
		bench_fail("epoll_ctl: %s", strerror(errno));
}

static void accept_some(int ep)
{
	int fd;

	while ((fd = accept4(server, NULL, NULL, SOCK_NONBLOCK)) >= 0)
		add(ep, fd);
}

static void echo(int fd)
{
	char buf[ECHO_BUFFER];
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0 || write(fd, buf, (size_t)n) != n)
		close(fd);
}

static void *loop(void *unused)
{
	struct epoll_event e[EVENTS];
	struct epoll_event mine = {
		.events = EPOLLIN | EPOLLEXCLUSIVE, .data.fd = server,
	};
	int ep = epoll_create1(0);

	(void)unused;
	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, server, &mine) != 0)
		bench_fail("epoll: %s", strerror(errno));
	for (;;) {
		int n = epoll_wait(ep, e, EVENTS, -1);

		for (int i = 0; i < n; i++)
			if (e[i].data.fd == server)
				accept_some(ep);
			else
				echo(e[i].data.fd);
	}
	return NULL;
}

static void serve(struct bench_ctx *ctx, int fd)
{
	pthread_t thread;

	server = fd;
	if (fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) != 0)
		bench_fail("fcntl: %s", strerror(errno));
	for (unsigned i = 1; i < ctx->vcpus; i++)
		if (pthread_create(&thread, NULL, loop, NULL) != 0)
			bench_fail("pthread_create");
	loop(NULL);
}

static void run(struct bench_ctx *ctx)
{
	echo_drive(ctx, serve);
}

static const struct bench_body bodies[] = {
	{ "echo", run },
	{ NULL, NULL },
};

const struct bench_variant bench_echo_epoll = {
	.name = "epoll",
	.enter = echo_enter,
	.bodies = bodies,
};
