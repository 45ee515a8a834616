/* SPDX-License-Identifier: MIT */
/*
 * chatroom.c - the room of a chat server: one thread knows the clients that are
 * there
 *
 * It waits for events, the signal to stop, and the end of the acceptor, and for
 * nothing else. What it says goes into the clients' outboxes without waiting: a
 * client whose outbox is full reads too slowly, and is shut out.
 */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chat.h"

struct room {
	struct client *first;
	size_t left;		/* clients that are no more */
	size_t made;		/* how many there were; known at the end */
	int stops, all_made;
};

/* Its thread writes what it has got yet, and leaves. */
static void shut(struct client *c, const char *why)
{
	if (!c->shut) {
		c->shut = why;
		(void)line_chan_close(c->outbox);
	}
}

static void tell_line(struct client *c, const struct line *line)
{
	if (!c->shut && line_chan_send_until(c->outbox, line, WEFT_NO_WAIT))
		shut(c, "was shut out: it reads too slowly");
}

static void print_line(struct line *line, const char *format, va_list args)
{
	int n = vsnprintf(line->text, sizeof(line->text) - 1, format, args);

	if (n < 0)
		n = 0;
	if (n > (int)sizeof(line->text) - 2)
		n = sizeof(line->text) - 2;
	line->text[n++] = '\n';
	line->bytes = (unsigned short)n;
}

__attribute__((format(printf, 2, 3)))
static void tell(struct client *c, const char *format, ...)
{
	struct line line;
	va_list args;

	va_start(args, format);
	print_line(&line, format, args);
	va_end(args);
	tell_line(c, &line);
}

/* Tells all clients that have a name. */
__attribute__((format(printf, 2, 3)))
static void tell_all(struct room *room, const char *format, ...)
{
	struct line line;
	va_list args;

	va_start(args, format);
	print_line(&line, format, args);
	va_end(args);
	for (struct client *c = room->first; c; c = c->next)
		if (c->name[0])
			tell_line(c, &line);
}

static struct client *find(struct room *room, const char *name)
{
	for (struct client *c = room->first; c; c = c->next)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

static void hello(struct room *room, struct client *c)
{
	c->prev = NULL;
	c->next = room->first;
	if (c->next)
		c->next->prev = c;
	room->first = c;
	tell(c, "* your name?");
	if (room->stops)
		shut(c, "stopped");
}

static void goodbye(struct room *room, struct client *c)
{
	if (c->prev)
		c->prev->next = c->next;
	else
		room->first = c->next;
	if (c->next)
		c->next->prev = c->prev;
	room->left++;
	if (c->name[0] && !room->stops)
		tell_all(room, "* %s %s", c->name,
			 c->shut ? c->shut : "was cut off");
	(void)line_chan_destroy(c->outbox);
	free(c);
}

static void take_name(struct room *room, struct client *c, const char *name)
{
	size_t bytes = strlen(name);

	if (bytes < 1 || bytes > CHAT_NAME || strcspn(name, " /*:") != bytes) {
		tell(c, "* a name has 1 to %d letters; yours?", CHAT_NAME);
	} else if (find(room, name)) {
		tell(c, "* there is a %s already; your name?", name);
	} else {
		strcpy(c->name, name);
		tell(c, "* welcome, %s; /help tells more", name);
		tell_all(room, "* %s has come", name);
	}
}

static void tell_who(struct room *room, struct client *to)
{
	char names[CHAT_LINE] = "";
	size_t bytes = 0, others = 0;

	for (struct client *c = room->first; c; c = c->next) {
		if (!c->name[0])
			continue;
		if (bytes + strlen(c->name) + 2 > sizeof(names) - 40)
			others++;
		else
			bytes += (size_t)sprintf(names + bytes, " %s", c->name);
	}
	if (others)
		tell(to, "* here:%s and %zu more", names, others);
	else
		tell(to, "* here:%s", names);
}

/* "NAME TEXT", for NAME only. */
static void whisper(struct room *room, struct client *from, char *text)
{
	char *name = text, *rest = strchr(text, ' ');
	struct client *to;

	if (!rest) {
		tell(from, "* /to NAME TEXT");
		return;
	}
	*rest++ = '\0';
	to = find(room, name);
	if (to)
		tell(to, "%s (to you): %s", from->name, rest);
	else
		tell(from, "* there is no %s", name);
}

static void said(struct room *room, struct client *c, const struct line *line)
{
	char text[CHAT_LINE + 1];

	memcpy(text, line->text, line->bytes);
	text[line->bytes] = '\0';
	if (!c->name[0])
		take_name(room, c, text);
	else if (strcmp(text, "/who") == 0)
		tell_who(room, c);
	else if (strcmp(text, "/quit") == 0)
		shut(c, "has gone");
	else if (strncmp(text, "/to ", 4) == 0)
		whisper(room, c, text + 4);
	else if (text[0] == '/')
		tell(c, "* /who, /to NAME TEXT, /quit; all else is for all");
	else if (text[0])
		tell_all(room, "%s: %s", c->name, text);
}

static void handle(struct room *room, const struct event *e)
{
	switch (e->kind) {
	case EVENT_HELLO:
		hello(room, e->client);
		break;
	case EVENT_SAID:
		if (!e->client->shut)
			said(room, e->client, &e->line);
		break;
	case EVENT_QUIT:
		shut(e->client, "has gone");
		break;
	case EVENT_LEFT:
		goodbye(room, e->client);
		break;
	}
}

static void begin_stop(struct room *room, int listener)
{
	room->stops = 1;
	weft_close(listener);
	for (struct client *c = room->first; c; c = c->next) {
		tell(c, "* the server stops");
		shut(c, "stopped");
	}
}

void room_run(int stop, int listener, uint64_t acceptor)
{
	struct room room = { .first = NULL };
	struct event e;
	void *made = NULL;
	struct weft_alt a[3] = {
		{ .op = WEFT_ALT_NONE },
		{ .op = WEFT_ALT_READY,
		  .u.ready = { .fd = stop, .events = POLLIN } },
		{ .op = WEFT_ALT_JOIN, .elem = &made, .u.thread = acceptor },
	};

	event_chan_alt_recv(&a[0], chat_events, &e);
	while (!room.all_made || room.left < room.made) {
		switch (weft_alt(a, 3, WEFT_FOREVER)) {
		case 0:
			handle(&room, &e);
			break;
		case 1:
			begin_stop(&room, listener);
			a[1].op = WEFT_ALT_NONE;
			break;
		case 2:
			room.made = (size_t)(uintptr_t)made;
			room.all_made = 1;
			a[2].op = WEFT_ALT_NONE;
			break;
		default:
			abort();	/* no memory to wait with */
		}
	}
}
