/* SPDX-License-Identifier: MIT */
/*
 * chan_others.h - a scene of test_stall_chan.c, and what others call on its
 * channels while one of their callers is stopped
 */
#ifndef WEFT_TESTS_STALL_CHAN_OTHERS_H
#define WEFT_TESTS_STALL_CHAN_OTHERS_H

#include "threads.h"

#include "lockfree/atomic.h"

#define ARRIVALS	8

struct call;

struct scene {
	const struct call *call;
	struct weft_chan *chan[2];
	size_t n;
	_Atomic int begun, returned, arrived, helped;
	uint64_t victim, helper;
};

struct call {
	const char *name;
	size_t capacity;
	void *(*helper)(void *scene);	/* is parked before; or NULL */
	void *(*run)(void *scene);
	void *(*other)(void *scene);	/* NULL: probes of both kinds */
	unsigned flags;
};

/* Sends until enough has arrived, wherever what it sends goes. */
static void *probe_sends(void *arg)
{
	struct scene *s = arg;

	for (long x = 0; load_seq_cst(&s->arrived) < ARRIVALS; x++)
		if (weft_chan_send(s->chan[x % 2], &x,
				   weft_clock() + 300000) == -EPIPE && x % 2)
			break;
	return NULL;
}

/* Until enough has arrived, here or at another; a closed channel is enough. */
static void *probe_receives(void *arg)
{
	struct scene *s = arg;

	for (long i = 0, x; load_seq_cst(&s->arrived) < ARRIVALS; i++) {
		int error = weft_chan_recv(s->chan[i % 2], &x,
					   weft_clock() + 300000);

		if (error == 0 || error == -EPIPE)
			fetch_add_seq_cst(&s->arrived, 1);
	}
	return NULL;
}

/*
 * Tries, and never waits, until the one that waited is back: nobody else makes
 * room. There is a message in the buffer, and it is that one's.
 */
static void *only_tries_to_send(void *arg)
{
	struct scene *s = arg;
	long x = 3;

	while (!load_seq_cst(&s->helped)) {
		int error = weft_chan_send(s->chan[0], &x, WEFT_NO_WAIT);

		must(error == 0 || error == -EAGAIN);
		weft_yield();
	}
	return NULL;
}

/* The same: there is room, and it is that one's. */
static void *only_tries_to_receive(void *arg)
{
	struct scene *s = arg;
	long x;

	while (!load_seq_cst(&s->helped)) {
		int error = weft_chan_recv(s->chan[0], &x, WEFT_NO_WAIT);

		must(error == 0 || error == -EAGAIN);
		weft_yield();
	}
	return NULL;
}

/* The sender, of a channel that is being closed. */
static void *sends_once(void *arg)
{
	struct scene *s = arg;
	long x = 3;
	int error = weft_chan_send(s->chan[0], &x, WEFT_NO_WAIT);

	must(error == 0 || error == -EPIPE);
	return NULL;
}

/* A third thread. */
static void *closes(void *arg)
{
	struct scene *s = arg;
	int error = weft_chan_close(s->chan[0]);

	must(error == 0 || error == -EALREADY);
	must(weft_chan_is_closed(s->chan[0]));
	must(weft_chan_close(s->chan[0]) == -EALREADY);
	return NULL;
}

/* The receiver, beside the only sender: it gets what there is, then the end. */
static void *receives_all(void *arg)
{
	struct scene *s = arg;
	long x;
	int error;

	must(weft_chan_recv(s->chan[0], &x, WEFT_NO_WAIT) == 0 && x == 2);
	error = weft_chan_recv(s->chan[0], &x, WEFT_NO_WAIT);
	must(error == -EAGAIN || (error == 0 && x == 1));
	closes(arg);
	while ((error = weft_chan_recv(s->chan[0], &x, WEFT_FOREVER)) == 0)
		must(x == 1);
	must(error == -EPIPE);
	return NULL;
}

/* The sender, beside the only receiver, which takes one at most. */
static void *sends_all(void *arg)
{
	struct scene *s = arg;
	long x = 3;
	size_t sent = 0;

	while (weft_chan_send(s->chan[0], &x, WEFT_NO_WAIT) == 0)
		sent++;
	must(sent == s->call->capacity || sent == s->call->capacity + 1);
	closes(arg);
	must(weft_chan_send(s->chan[0], &x, WEFT_FOREVER) == -EPIPE);
	return NULL;
}

#endif
