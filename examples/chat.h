/* SPDX-License-Identifier: MIT */
/* chat.h - what the room of a chat server and its clients' threads share */
#ifndef WEFT_EXAMPLES_CHAT_H
#define WEFT_EXAMPLES_CHAT_H

#include <weft.h>

#define CHAT_LINE	400	/* bytes, with the newline */
#define CHAT_NAME	20
#define CHAT_INPUT	(CHAT_LINE - 40)	/* and its sender's name */

struct line {
	unsigned short bytes;
	char text[CHAT_LINE];
};

WEFT_CHAN_OF(line_chan, struct line);

struct client {
	int fd;
	struct line_chan outbox;	/* the room sends, the client receives */
	/* The room's. */
	struct client *prev, *next;
	char name[CHAT_NAME + 1];	/* "": it has none yet */
	const char *shut;		/* why its outbox is closed; or NULL */
};

enum event_kind {
	EVENT_HELLO,	/* the client is there; it has no name yet */
	EVENT_SAID,	/* line */
	EVENT_QUIT,	/* it says no more, and gets what was said before */
	EVENT_LEFT,	/* the client's last: now it is the room's */
};

struct event {
	enum event_kind kind;
	struct client *client;
	struct line line;
};

WEFT_CHAN_OF(event_chan, struct event);

/* The room hears of everything through this one. */
extern struct event_chan chat_events;
extern int64_t chat_patience_ns;	/* with a client that does not read */

/* A client's thread; arg is its struct client. */
void *client_main(void *arg);

/*
 * The room, until `stop` is readable; then until all clients have left. acceptor
 * ends when `listener` is closed; its result is how many clients it has made.
 */
void room_run(int stop, int listener, uint64_t acceptor);

#endif
