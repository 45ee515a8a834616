/* SPDX-License-Identifier: MIT */
/* 09_sockets - an echo server with a thread for each connection, and its clients */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

#define CLIENTS	100

static struct sockaddr_in address = { .sin_family = AF_INET };
static struct weft_group connections = WEFT_GROUP_INIT;

static void must(int error, const char *what)
{
	if (error < 0) {
		fprintf(stderr, "%s: %s\n", what, weft_strerror(error));
		exit(1);
	}
}

/* The thread of a connection: plain reads and writes, one after the other. */
static int serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char data[256];
	ssize_t n;

	while ((n = weft_read(fd, data, sizeof(data))) > 0)
		if (weft_send(fd, data, (size_t)n, MSG_NOSIGNAL) != n)
			break;
	weft_close(fd);
	return 0;
}

/* Until the listening socket is closed. */
static int accept_all(void *arg)
{
	int listener = (int)(intptr_t)arg, fd;

	while ((fd = weft_accept(listener, NULL, NULL)) >= 0)
		if (weft_group_spawn(&connections, NULL, NULL, serve,
				     (void *)(intptr_t)fd) != 0)
			weft_close(fd);
	return fd == -EBADF ? 0 : fd;
}

static int ask(void *arg)
{
	int fd = weft_socket(AF_INET, SOCK_STREAM, 0), *echoes = arg;
	char buffer[64], *line;
	struct weft_reader in;

	must(fd, "socket");
	must(weft_connect(fd, (struct sockaddr *)&address, sizeof(address)),
	     "connect");
	if (weft_send(fd, "hello\n", 6, MSG_NOSIGNAL) != 6)
		return -EIO;
	weft_reader_init(&in, fd, buffer, sizeof(buffer));
	if (weft_reader_line(&in, &line, weft_deadline(WEFT_SECONDS(60))) == 5 &&
	    strcmp(line, "hello") == 0)
		*echoes = 1;
	return weft_close(fd);
}

static int listen_here(void)
{
	int fd = weft_socket(AF_INET, SOCK_STREAM, 0);
	socklen_t bytes = sizeof(address);

	must(fd, "socket");
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);	/* any port */
	if (bind(fd, (struct sockaddr *)&address, bytes) != 0 ||
	    listen(fd, CLIENTS) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &bytes) != 0)
		must(-errno, "listen");
	return fd;
}

int main(void)
{
	struct weft_group clients = WEFT_GROUP_INIT;
	int echoes[CLIENTS] = { 0 }, sum = 0, listener;

	must(weft_start(NULL), "start");
	listener = listen_here();
	must(weft_group_spawn(&connections, NULL, NULL, accept_all,
			      (void *)(intptr_t)listener), "spawn");
	for (int i = 0; i < CLIENTS; i++)
		must(weft_group_spawn(&clients, NULL, NULL, ask, &echoes[i]),
		     "spawn");
	must(weft_group_wait(&clients, WEFT_FOREVER, NULL), "clients");
	for (int i = 0; i < CLIENTS; i++)
		sum += echoes[i];
	printf("%d clients were answered\n", sum);
	weft_close(listener);		/* accept_all() gets -EBADF, and ends */
	must(weft_group_wait(&connections, WEFT_FOREVER, NULL), "connections");
	must(weft_stop(), "stop");
	return 0;
}
