/* SPDX-License-Identifier: MIT */
/*
 * lines.c - a server with a group of threads for each connection
 *
 * usage: lines [PORT [SECONDS]]
 *
 * Each line of a client comes back in capital letters. A connection has two threads: one
 * reads, the other writes what the first has read. If one of them fails, its group
 * cancels the other, and the connection ends. All connections are in a group too. At
 * SIGINT or SIGTERM the server accepts no more, and gives the connections that are left
 * some SECONDS to end. Then that group's deadline cancels them, and all that they began.
 */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

#include "server.h"

struct piece {
	size_t bytes;
	char text[256];
};

WEFT_CHAN_OF(pieces, struct piece);

struct connection {
	int fd;
	struct pieces pieces;
};

/* Until the client has sent all. The writer then finds the channel closed. */
static int read_pieces(void *arg)
{
	struct connection *c = arg;
	struct piece p;
	ssize_t n;
	int error = 0;

	while (!error && (n = weft_read(c->fd, p.text, sizeof(p.text))) != 0) {
		if (n < 0)
			return (int)n;
		p.bytes = (size_t)n;
		error = pieces_send_until(c->pieces, &p, WEFT_FOREVER);
	}
	pieces_close(c->pieces);
	return error;
}

static int write_pieces(void *arg)
{
	struct connection *c = arg;
	struct piece p;
	int error;

	while ((error = pieces_recv(c->pieces, &p)) == 0) {
		for (size_t i = 0; i < p.bytes; i++)
			p.text[i] = (char)toupper((unsigned char)p.text[i]);
		if (weft_write_until(c->fd, p.text, p.bytes,
				     weft_deadline(WEFT_SECONDS(10))) !=
		    (ssize_t)p.bytes)
			return -ETIMEDOUT;
	}
	return error == -EPIPE ? 0 : error;
}

/* The thread of a connection owns the group of the other two. */
static int serve(void *arg)
{
	struct connection *c = arg;
	struct weft_group both = WEFT_GROUP_INIT;
	int error = weft_group_spawn(&both, NULL, NULL, read_pieces, c);

	if (!error)
		error = weft_group_spawn(&both, NULL, NULL, write_pieces, c);
	if (error)
		weft_group_cancel(&both);
	error = weft_group_wait(&both, WEFT_FOREVER, NULL);
	if (error)
		fprintf(stderr, "lines: a connection: %s\n", weft_strerror(error));
	pieces_destroy(c->pieces);
	weft_close(c->fd);
	free(c);
	return 0;	/* the other connections go on */
}

static void begin_connection(struct weft_group *all, int fd)
{
	struct connection *c = malloc(sizeof(*c));

	if (c) {
		c->fd = fd;
		if (pieces_create(&c->pieces, 4, WEFT_CHAN_ONE_TO_ONE) == 0) {
			if (weft_group_spawn(all, NULL, NULL, serve, c) == 0)
				return;
			pieces_destroy(c->pieces);
		}
	}
	free(c);
	weft_close(fd);
}

static void accept_until_signal(struct weft_group *all, int listener, int signals)
{
	struct pollfd fds[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = listener, .events = POLLIN },
	};

	while (weft_poll(fds, 2, WEFT_FOREVER) > 0 && !fds[0].revents) {
		int fd = weft_accept_until(listener, NULL, NULL, WEFT_NO_WAIT);

		if (fd >= 0)
			begin_connection(all, fd);
		else if (fd != -EAGAIN)	/* too many descriptors */
			weft_sleep(WEFT_MS(10));
	}
}

int main(int argc, char **argv)
{
	struct weft_group all = WEFT_GROUP_INIT;
	int64_t grace = WEFT_SECONDS(argc > 2 ? atoi(argv[2]) : 5);
	int listener, signals, error = weft_start(NULL);

	if (error) {
		fprintf(stderr, "lines: %s\n", weft_strerror(error));
		return 1;
	}
	signals = server_signals();
	listener = signals < 0 ? signals :
		   server_listen((uint16_t)(argc > 1 ? atoi(argv[1]) : 7070));
	if (listener < 0) {
		fprintf(stderr, "lines: %s\n", weft_strerror(listener));
		return 1;
	}
	accept_until_signal(&all, listener, signals);
	weft_close(listener);
	error = weft_group_wait(&all, weft_deadline(grace), NULL);
	if (error)
		fprintf(stderr, "lines: connections were cut: %s\n",
			weft_strerror(error));
	error = weft_stop();
	if (!error)
		printf("stopped\n");
	return error != 0;
}
