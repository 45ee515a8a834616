/* SPDX-License-Identifier: MIT */
/* plan9/chan.c - channels and alt: weft's, but the turn is given up while they wait */
#include "plan9.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/plan9/libc.h>
#include <weft/plan9/thread.h>

struct weft_plan9_channel {
	struct weft_chan *chan;
	void *zeros;			/* a message, if v is nil */
	char name[WEFT_NAME_MAX];	/* for debuggers and error messages */
};

struct weft_plan9_channel *weft_plan9_chancreate(int elem_bytes, int capacity)
{
	struct weft_plan9_channel *c = calloc(1, sizeof(*c));

	if (!c || elem_bytes < 0 || capacity < 0)
		goto no_channel;
	c->zeros = calloc(1, (size_t)elem_bytes + 1);
	if (!c->zeros)
		goto no_channel;
	if (weft_chan_create(&c->chan, (size_t)elem_bytes, (size_t)capacity, 0))
		goto no_zeros;
	return c;
no_zeros:
	free(c->zeros);
no_channel:
	free(c);
	return NULL;
}

void weft_plan9_chanfree(struct weft_plan9_channel *c)
{
	char what[WEFT_NAME_MAX + 16];
	int error;

	if (!c)
		return;
	error = weft_chan_destroy(c->chan);
	if (error) {
		snprintf(what, sizeof(what), "chanfree%s%s",
			 *c->name ? " " : "", c->name);
		plan9_fatal(what, error);
	}
	free(c->zeros);
	free(c);
}

void weft_plan9_chansetname(struct weft_plan9_channel *c, const char *format,
			    ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->name, sizeof(c->name), format, args);
	va_end(args);
}

void weft_plan9_chanprintname(struct weft_plan9_channel *c, const char *format,
			      ...)
{
	va_list args;

	va_start(args, format);
	weft_plan9_vsnprint(c->name, sizeof(c->name), format, args);
	va_end(args);
}

int weft_plan9_chanprint(struct weft_plan9_channel *c, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = weft_plan9_vsmprint(format, args);
	va_end(args);
	if (!text)
		plan9_fatal("chanprint", ENOMEM);
	return weft_plan9_sendp(c, text);
}

struct weft_chan *plan9_chan_of(const struct weft_plan9_channel *c)
{
	return c->chan;
}

int weft_plan9_chanclose(struct weft_plan9_channel *c)
{
	return weft_chan_close(c->chan) ? -1 : 0;
}

/* Returns 1: done, -1: closed, 0: it would have to wait. */
static int result(int error)
{
	return error == 0 ? 1 : error == -EAGAIN ? 0 : -1;
}

int weft_plan9_nbsend(struct weft_plan9_channel *c, void *v)
{
	return result(weft_chan_send(c->chan, v ? v : c->zeros, WEFT_NO_WAIT));
}

int weft_plan9_nbrecv(struct weft_plan9_channel *c, void *v)
{
	return result(weft_chan_recv(c->chan, v, WEFT_NO_WAIT));
}

int weft_plan9_send(struct weft_plan9_channel *c, void *v)
{
	int done = weft_plan9_nbsend(c, v);

	if (done)
		return done;
	plan9_give_turn();
	done = result(weft_chan_send(c->chan, v ? v : c->zeros, WEFT_FOREVER));
	plan9_take_turn();
	return done;
}

int weft_plan9_recv(struct weft_plan9_channel *c, void *v)
{
	int done = weft_plan9_nbrecv(c, v);

	if (done)
		return done;
	plan9_give_turn();
	done = result(weft_chan_recv(c->chan, v, WEFT_FOREVER));
	plan9_take_turn();
	return done;
}

int weft_plan9_sendp(struct weft_plan9_channel *c, void *v)
{
	return weft_plan9_send(c, &v);
}

void *weft_plan9_recvp(struct weft_plan9_channel *c)
{
	void *v = NULL;

	return weft_plan9_recv(c, &v) > 0 ? v : NULL;
}

int weft_plan9_nbsendp(struct weft_plan9_channel *c, void *v)
{
	return weft_plan9_nbsend(c, &v);
}

void *weft_plan9_nbrecvp(struct weft_plan9_channel *c)
{
	void *v = NULL;

	return weft_plan9_nbrecv(c, &v) > 0 ? v : NULL;
}

int weft_plan9_sendul(struct weft_plan9_channel *c, unsigned long v)
{
	return weft_plan9_send(c, &v);
}

unsigned long weft_plan9_recvul(struct weft_plan9_channel *c)
{
	unsigned long v = 0;

	return weft_plan9_recv(c, &v) > 0 ? v : ~0ul;
}

int weft_plan9_nbsendul(struct weft_plan9_channel *c, unsigned long v)
{
	return weft_plan9_nbsend(c, &v);
}

unsigned long weft_plan9_nbrecvul(struct weft_plan9_channel *c)
{
	unsigned long v = 0;

	return weft_plan9_nbrecv(c, &v) > 0 ? v : 0;
}

static void translate(struct weft_alt *to, const struct weft_plan9_alt *from)
{
	*to = (struct weft_alt){ .op = WEFT_ALT_NONE };
	if (!from->c)
		return;
	to->chan = from->c->chan;
	to->elem = from->v;
	if (from->op == WEFT_PLAN9_RCV) {
		to->op = WEFT_ALT_RECV;
	} else if (from->op == WEFT_PLAN9_SND) {
		to->op = WEFT_ALT_SEND;
		if (!to->elem)
			to->elem = from->c->zeros;
	}
}

int weft_plan9_alt(struct weft_plan9_alt *alts)
{
	struct weft_alt few[16], *a = few;
	size_t n = 0;
	int at;

	while (alts[n].op != WEFT_PLAN9_END && alts[n].op != WEFT_PLAN9_NOBLK)
		n++;
	if (n > 16)
		a = malloc(n * sizeof(*a));
	if (!a)
		plan9_fatal("alt", ENOMEM);
	for (size_t i = 0; i < n; i++)
		translate(&a[i], &alts[i]);
	at = n ? weft_alt(a, n, WEFT_NO_WAIT) : -EAGAIN;
	if (at == -EAGAIN && alts[n].op == WEFT_PLAN9_NOBLK) {
		at = (int)n;
	} else if (at == -EAGAIN && n) {
		plan9_give_turn();
		at = weft_alt(a, n, WEFT_FOREVER);
		plan9_take_turn();
	}
	if (at >= 0 && at < (int)n && a[at].error)
		at = -1;
	if (a != few)
		free(a);
	return at < 0 ? -1 : at;
}
