/* SPDX-License-Identifier: MIT */
/* server.c - a TCP server with a thread a connection, and a graceful stop */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft.h>

struct connection {
	int fd;
	struct connection *prev, *next;
};

/* All of it is protected by the mutex, but what is set before anybody serves. */
static struct {
	struct weft_mutex mutex;
	struct weft_cond ended;
	struct connection *first;
	int stops;
	int listener;
	int signal_pipe[2];
	void (*serve)(int fd);
} server;

static void on_signal(int signal)
{
	int saved = errno;

	(void)signal;
	(void)!write(server.signal_pipe[1], "", 1);
	errno = saved;
}

static int enlist(struct connection *c)
{
	int stops;

	weft_mutex_lock(&server.mutex);
	stops = server.stops;
	if (!stops) {
		c->next = server.first;
		if (c->next)
			c->next->prev = c;
		server.first = c;
	}
	weft_mutex_unlock(&server.mutex);
	return stops;
}

/* Off the list first: the stop must not shut down another's descriptor. */
static void delist(struct connection *c)
{
	weft_mutex_lock(&server.mutex);
	if (c->prev)
		c->prev->next = c->next;
	else
		server.first = c->next;
	if (c->next)
		c->next->prev = c->prev;
	if (!server.first)
		weft_cond_signal(&server.ended);
	weft_mutex_unlock(&server.mutex);
}

static void *connection_main(void *arg)
{
	struct connection *c = arg;
	int on = 1;

	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	server.serve(c->fd);
	delist(c);
	weft_close(c->fd);
	free(c);
	return NULL;
}

static void begin_connection(int fd)
{
	const struct weft_attr attr = {
		.name = "connection", .flags = WEFT_DETACHED,
	};
	struct connection *c = calloc(1, sizeof(*c));

	if (!c || (c->fd = fd, enlist(c)) != 0) {
		weft_close(fd);
		free(c);
		return;
	}
	if (weft_spawn(NULL, &attr, connection_main, c) != 0) {
		delist(c);
		weft_close(fd);
		free(c);
	}
}

/* Until the listener is closed. */
static void *accept_main(void *unused)
{
	(void)unused;
	for (;;) {
		int fd = weft_accept(server.listener, NULL, NULL);

		if (fd >= 0)
			begin_connection(fd);
		else if (fd == -EBADF)
			return NULL;
		else	/* too many descriptors: until some are closed */
			weft_sleep(WEFT_MS(10));
	}
}

static void shut_down_all(int how)
{
	weft_mutex_lock(&server.mutex);
	server.stops = 1;
	for (struct connection *c = server.first; c; c = c->next)
		shutdown(c->fd, how);
	weft_mutex_unlock(&server.mutex);
}

/* Returns 0 when no connection is left. */
static int wait_for_the_last(int64_t deadline)
{
	int error = 0;

	weft_mutex_lock(&server.mutex);
	while (server.first && !error)
		error = weft_cond_wait_until(&server.ended, &server.mutex,
					     deadline);
	weft_mutex_unlock(&server.mutex);
	return error;
}

int server_listen(uint16_t port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(port),
	};
	socklen_t bytes = sizeof(address);
	int on = 1, fd = weft_socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&address, bytes) != 0 ||
	    listen(fd, 4096) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &bytes) != 0) {
		int error = -errno;

		weft_close(fd);
		return error;
	}
	printf("listening on 127.0.0.1:%u\n", ntohs(address.sin_port));
	fflush(stdout);
	return fd;
}

int server_signals(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	int error = weft_pipe(server.signal_pipe, 0);

	if (error)
		return error;
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	return server.signal_pipe[0];
}

static void serve_until_signal(const struct server_options *options)
{
	uint64_t acceptor;

	if (weft_spawn(&acceptor, NULL, accept_main, NULL) != 0)
		return;
	(void)!weft_wait_fd(server.signal_pipe[0], POLLIN, WEFT_FOREVER);
	weft_close(server.listener);
	(void)!weft_join(acceptor, NULL);
	shut_down_all(SHUT_RD);
	if (wait_for_the_last(weft_deadline(options->grace_ns)) != 0) {
		shut_down_all(SHUT_RDWR);
		(void)wait_for_the_last(WEFT_FOREVER);
	}
}

int server_run(const struct server_options *options)
{
	int error = weft_start(NULL);

	if (!error)
		error = server_signals();
	if (error >= 0) {
		server.serve = options->serve;
		server.listener = server_listen(options->port);
		error = server.listener < 0 ? server.listener : 0;
	}
	if (error < 0) {
		fprintf(stderr, "server: %s\n", weft_strerror(error));
		return 1;
	}
	serve_until_signal(options);
	/* The last threads are detached, and may not have ended quite yet. */
	weft_wait_all(WEFT_FOREVER);
	if (weft_stop() != 0)
		return 1;
	printf("stopped\n");
	return 0;
}
