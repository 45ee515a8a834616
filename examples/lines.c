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

#define LINE_MOST	255	/* characters */

struct line {
	size_t bytes;
	char text[LINE_MOST + 1];
};

WEFT_CHAN_OF(lines, struct line);

struct connection {
	int fd;
	struct lines lines;
};

/* Until the client has sent all. The writer then finds the channel closed. */
static int read_lines(void *arg)
{
	struct connection *c = arg;
	struct weft_reader in;
	struct line line;
	char buf[LINE_MOST + 2], *text;
	ssize_t n;
	int error = 0;

	weft_reader_init(&in, c->fd, buf, sizeof(buf));
	while (!error && (n = weft_reader_line(&in, &text, WEFT_FOREVER)) >= 0) {
		line.bytes = (size_t)n + 1;
		memcpy(line.text, text, (size_t)n);
		line.text[n] = '\n';
		error = lines_send_until(c->lines, &line, WEFT_FOREVER);
	}
	lines_close(c->lines);
	return error ? error : n == -ENODATA ? 0 : (int)n;
}

static int write_lines(void *arg)
{
	struct connection *c = arg;
	struct line line;
	int error;

	while ((error = lines_recv(c->lines, &line)) == 0) {
		for (size_t i = 0; i < line.bytes; i++)
			line.text[i] = (char)toupper((unsigned char)line.text[i]);
		if (weft_write_until(c->fd, line.text, line.bytes,
				     weft_deadline(WEFT_SECONDS(10))) !=
		    (ssize_t)line.bytes)
			return -ETIMEDOUT;
	}
	return error == -EPIPE ? 0 : error;
}

/* The thread of a connection owns the group of the other two. */
static int serve(void *arg)
{
	struct connection *c = arg;
	struct weft_group both = WEFT_GROUP_INIT;
	int error = weft_group_spawn(&both, NULL, NULL, read_lines, c);

	if (!error)
		error = weft_group_spawn(&both, NULL, NULL, write_lines, c);
	if (error)
		weft_group_cancel(&both);
	error = weft_group_wait(&both, WEFT_FOREVER, NULL);
	if (error)
		fprintf(stderr, "lines: a connection: %s\n", weft_strerror(error));
	lines_destroy(c->lines);
	weft_close(c->fd);
	free(c);
	return 0;	/* the other connections go on */
}

static void begin_connection(struct weft_group *all, int fd)
{
	struct connection *c = malloc(sizeof(*c));

	if (c) {
		c->fd = fd;
		if (lines_create(&c->lines, 4, WEFT_CHAN_ONE_TO_ONE) == 0) {
			if (weft_group_spawn(all, NULL, NULL, serve, c) == 0)
				return;
			lines_destroy(c->lines);
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
