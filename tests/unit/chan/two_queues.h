/* SPDX-License-Identifier: MIT */
/* two_queues.h - what two channels do, one call after the other */
#ifndef WEFT_TESTS_CHAN_TWO_QUEUES_H
#define WEFT_TESTS_CHAN_TWO_QUEUES_H

#include <errno.h>
#include <string.h>

#include "history.h"

#define CHANS		2
#define CAPACITY	2		/* of each, at most */

/* A kind is the operation's and 8 times the channel. */
enum { OP_SEND, OP_RECV, OP_MEET, OP_CLOSE, OP_TRIED_SEND, OP_TRIED_RECV };
#define KIND(op, chan)	((op) + 8 * (chan))

static const char *const names[] = {
	"send", "recv", "meet", "close", "tried send", "tried recv", "", "",
	"send'", "recv'", "meet'", "close'", "tried send'", "tried recv'",
};

/* Two channels, the oldest message first, zeros behind the last. */
struct state {
	uint32_t capacity;
	struct {
		uint16_t closed, count;
		uint16_t message[CAPACITY];
	} chan[CHANS];
};

static void model_begin(void *state, const void *setup)
{
	memset(state, 0, sizeof(struct state));
	((struct state *)state)->capacity = *(const uint32_t *)setup;
}

/* arg: the message; result: 0, or -errno of a call that did not succeed. */
static int model_step(void *state, const struct history_op *op)
{
	struct state *s = state;
	int kind = op->kind % 8, at = op->kind / 8;
	int closed = s->chan[at].closed, error = (int)(int64_t)op->result;
	uint16_t *count = &s->chan[at].count;
	uint16_t *message = s->chan[at].message;

	if (kind == OP_CLOSE) {
		s->chan[at].closed = 1;
		return error == (closed ? -EALREADY : 0);
	}
	if (kind == OP_MEET)
		return s->capacity == 0 && !closed;
	if (error == -EPIPE)
		return closed && (kind == OP_SEND || *count == 0);
	if (kind == OP_TRIED_SEND)	/* no room: nobody, or the buffer full */
		return !closed && *count == s->capacity;
	if (kind == OP_TRIED_RECV)
		return !closed && *count == 0;
	if (error || s->capacity == 0)
		return 0;
	if (kind == OP_SEND) {
		if (closed || *count == s->capacity)
			return 0;
		message[(*count)++] = (uint16_t)op->arg;
		return 1;
	}
	if (*count == 0 || message[0] != op->arg)
		return 0;
	memmove(message, message + 1, (CAPACITY - 1) * sizeof(*message));
	message[--*count] = 0;
	return 1;
}

static const struct history_model model = {
	sizeof(struct state), model_begin, model_step, names,
};

#endif
