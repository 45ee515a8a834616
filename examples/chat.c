/* SPDX-License-Identifier: MIT */
/*
 * chat.c - a chat server built of channels and alt; try it with nc
 *
 * There is a thread for the room (chatroom.c), one for each client
 * (chatclient.c), and one that accepts. Only the room's thread knows the
 * clients that are there. The threads share nothing but channels: one to the
 * room, and one to each client.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chat.h"
#include "server.h"

struct event_chan chat_events;
int64_t chat_patience_ns = WEFT_SECONDS(10);
static size_t queue = 256;

static int begin_client(int fd)
{
	const struct weft_attr attr = {
		.name = "client", .flags = WEFT_DETACHED,
	};
	struct client *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->fd = fd;
	if (line_chan_create(&c->outbox, queue, 0) == 0) {
		if (weft_spawn(NULL, &attr, client_main, c) == 0)
			return 0;
		(void)line_chan_destroy(c->outbox);
	}
	free(c);
	return -ENOMEM;
}

/* Until the listener is closed. Returns how many clients it has begun. */
static void *accept_main(void *arg)
{
	int listener = (int)(intptr_t)arg;
	size_t made = 0;

	for (;;) {
		int fd = weft_accept(listener, NULL, NULL);

		if (fd == -EBADF)
			return (void *)(uintptr_t)made;
		if (fd >= 0 && begin_client(fd) == 0) {
			made++;
			continue;
		}
		if (fd >= 0)
			weft_close(fd);
		weft_sleep(WEFT_MS(10));	/* until some have gone */
	}
}

static void usage(FILE *out)
{
	fprintf(out,
"usage: chat [-q LINES] [-t MS] [PORT]\n"
"A chat server on 127.0.0.1:PORT (7008; 0: a free one), for nc or telnet.\n"
"  -q, --queue LINES   a client with so many unread lines is shut out (256)\n"
"  -t, --patience MS   and one that takes no byte for so long (10000)\n"
"  -h, --help          this text\n"
"SIGTERM: everybody gets what was said before, and the program ends.\n");
}

static int number(const char *text, long least, long most, long *value)
{
	char *end;

	errno = 0;
	*value = strtol(text, &end, 10);
	return errno || *end || end == text || *value < least ||
	       *value > most ? -1 : 0;
}

/* Returns 0, or what the program returns plus one. */
static int parse(int argc, char **argv, uint16_t *port)
{
	static const struct option longs[] = {
		{ "queue", required_argument, NULL, 'q' },
		{ "patience", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	long value;
	int c;

	while ((c = getopt_long(argc, argv, "q:t:h", longs, NULL)) != -1) {
		if (c == 'h') {
			usage(stdout);
			return 1;
		}
		if (c == 'q' && number(optarg, 1, 1000000, &value) == 0)
			queue = (size_t)value;
		else if (c == 't' && number(optarg, 1, 1000000, &value) == 0)
			chat_patience_ns = value * INT64_C(1000000);
		else
			goto wrong;
	}
	if (argc - optind > 1)
		goto wrong;
	if (optind < argc) {
		if (number(argv[optind], 0, 65535, &value))
			goto wrong;
		*port = (uint16_t)value;
	}
	return 0;
wrong:
	usage(stderr);
	return 3;
}

static int run(uint16_t port)
{
	int stop = server_signals(), listener;
	uint64_t acceptor;

	if (stop < 0)
		return stop;
	listener = server_listen(port);
	if (listener < 0)
		return listener;
	if (event_chan_create(&chat_events, 64, 0) != 0 ||
	    weft_spawn(&acceptor, NULL, accept_main,
		       (void *)(intptr_t)listener) != 0)
		return -ENOMEM;
	room_run(stop, listener, acceptor);
	return event_chan_destroy(chat_events);
}

int main(int argc, char **argv)
{
	uint16_t port = 7008;
	int error = parse(argc, argv, &port);

	if (error)
		return error - 1;
	error = weft_start(NULL);
	if (!error)
		error = run(port);
	if (error) {
		fprintf(stderr, "chat: %s\n", weft_strerror(error));
		return 1;
	}
	/* The last clients' threads may not have ended quite yet. */
	while (weft_stop() == -EBUSY)
		weft_yield();
	printf("stopped\n");
	return 0;
}
