/* SPDX-License-Identifier: MIT */
/*
 * chatclient.c - a client's thread: lines from its socket, lines to its socket
 *
 * It waits for three things at once: a line to write, a chance to say what it
 * has read, or, when there is nothing to say, more to read. It never waits for
 * the room alone, so that the room can never wait for it.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "chat.h"

struct input {
	size_t bytes;
	char data[CHAT_INPUT];
};

static void post(struct client *c, enum event_kind kind)
{
	struct event e = { .kind = kind, .client = c };

	(void)event_chan_send_until(chat_events, &e, WEFT_FOREVER);
}

/* Nothing that moves a terminal's cursor goes to others. */
static void clean(struct line *line)
{
	while (line->bytes && (unsigned char)line->text[line->bytes - 1] <= ' ')
		line->bytes--;
	for (size_t i = 0; i < line->bytes; i++)
		if ((unsigned char)line->text[i] < ' ' || line->text[i] == 127)
			line->text[i] = ' ';
}

/* 1: the next line, which may be empty; what is too long becomes several. */
static int next_line(struct input *in, struct line *line)
{
	char *end = memchr(in->data, '\n', in->bytes);
	size_t bytes = end ? (size_t)(end - in->data) + 1 : in->bytes;

	if (!end && bytes < sizeof(in->data))
		return 0;
	line->bytes = (unsigned short)bytes;
	memcpy(line->text, in->data, bytes);
	clean(line);
	in->bytes -= bytes;
	memmove(in->data, in->data + bytes, in->bytes);
	return 1;
}

/* Returns 0; 1: the peer says no more. */
static int read_more(struct client *c, struct input *in)
{
	ssize_t n = weft_read_until(c->fd, in->data + in->bytes,
				    sizeof(in->data) - in->bytes, WEFT_NO_WAIT);

	if (n == -EAGAIN)
		return 0;
	if (n <= 0)
		return 1;
	in->bytes += (size_t)n;
	return 0;
}

static int write_out(struct client *c, const struct line *line)
{
	return weft_send_until(c->fd, line->text, line->bytes, MSG_NOSIGNAL,
			       weft_deadline(chat_patience_ns)) == line->bytes ?
	       0 : -1;
}

/* Reads on when there is nothing to say; `said` is what there is. */
static void alternatives(struct client *c, struct line *out,
			 struct event *said, int has_said, struct weft_alt a[2])
{
	line_chan_alt_recv(&a[0], c->outbox, out);
	if (has_said) {
		event_chan_alt_send(&a[1], chat_events, said);
	} else if (said->kind == EVENT_QUIT) {
		a[1].op = WEFT_ALT_NONE;
	} else {
		a[1].op = WEFT_ALT_READY;
		a[1].u.ready.fd = c->fd;
		a[1].u.ready.events = POLLIN;
	}
}

/* Until the outbox is closed, and all of it written. */
static void converse(struct client *c)
{
	struct event said = { .kind = EVENT_SAID, .client = c };
	struct input in = { .bytes = 0 };
	struct line out;
	int has_said = 0;

	for (;;) {
		struct weft_alt a[2] = { { .op = WEFT_ALT_NONE } };
		int at;

		if (!has_said && said.kind == EVENT_SAID)
			has_said = next_line(&in, &said.line);
		alternatives(c, &out, &said, has_said, a);
		at = weft_alt(a, 2, WEFT_FOREVER);
		if (at < 0 || a[at].error)
			return;
		if (at == 0 && write_out(c, &out))
			return;
		if (at == 1 && has_said) {
			has_said = 0;
		} else if (at == 1 && read_more(c, &in)) {
			said.kind = EVENT_QUIT;
			has_said = 1;
		}
	}
}

void *client_main(void *arg)
{
	struct client *c = arg;

	post(c, EVENT_HELLO);
	converse(c);
	weft_close(c->fd);
	post(c, EVENT_LEFT);
	return NULL;
}
