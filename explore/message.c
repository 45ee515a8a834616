/* SPDX-License-Identifier: MIT */
/*
 * explore/message.c - POSIX message queues: the turn is given away while one is full or empty
 *
 * Linux has a descriptor for each queue, which poll() looks at. The call itself is made with a
 * deadline that has passed, so it never waits. A queue with O_NONBLOCK has a point only.
 */
#include "explore.h"

#include <errno.h>
#include <mqueue.h>

#include "real.h"

static const struct timespec passed = { 0, 0 };
static char key;	/* a message is received behind its sending; all queues are one */

struct call {
	mqd_t queue;
	int sends;
	char *to;
	const char *from;
	size_t bytes;
	unsigned *priority, sent;
	ssize_t result;
};

/* 0: it would wait. */
static int is_done(void *arguments)
{
	struct call *c = arguments;

	if (c->sends)
		wefti_ex_give(wefti_ex_self, &key);
	c->result = c->sends ?
		REAL(mq_timedsend)(c->queue, c->from, c->bytes, c->sent, &passed) :
		REAL(mq_timedreceive)(c->queue, c->to, c->bytes, c->priority, &passed);
	return c->result >= 0 || errno != ETIMEDOUT;
}

static ssize_t transfer(struct call *c, const struct timespec *time, const void *where)
{
	struct pollfd one = { .fd = (int)c->queue, .events = c->sends ? POLLOUT : POLLIN };
	int64_t deadline = WEFTI_EX_NEVER;
	const int error = time ? wefti_ex_deadline(CLOCK_REALTIME, time, &deadline) : 0;
	int ready;

	if (error) {
		errno = error;
		return -1;
	}
	ready = wefti_ex_wait_restarted(&(struct wefti_ex_try){ is_done, c }, &one, 1, deadline,
					c->sends ? WEFTI_EX_SEND : WEFTI_EX_RECEIVE, where);
	if (ready == 0)
		errno = ETIMEDOUT;
	if (ready <= 0)
		return -1;
	if (c->result < 0 && errno == EAGAIN)
		wefti_ex_found_nothing();
	else if (!c->sends && c->result >= 0)
		wefti_ex_take(wefti_ex_self, &key);
	return c->result;
}

EXPORT int mq_timedsend(mqd_t queue, const char *from, size_t bytes, unsigned priority,
			const struct timespec *time)
{
	struct call c = { .queue = queue, .sends = 1, .from = from, .bytes = bytes, .sent = priority };

	return wefti_ex_controlled() ? (int)transfer(&c, time, CALLER) :
				       REAL(mq_timedsend)(queue, from, bytes, priority, time);
}

EXPORT int mq_send(mqd_t queue, const char *from, size_t bytes, unsigned priority)
{
	struct call c = { .queue = queue, .sends = 1, .from = from, .bytes = bytes, .sent = priority };

	return wefti_ex_controlled() ? (int)transfer(&c, NULL, CALLER) :
				       REAL(mq_send)(queue, from, bytes, priority);
}

EXPORT ssize_t mq_timedreceive(mqd_t queue, char *restrict to, size_t bytes,
			       unsigned *restrict priority, const struct timespec *restrict time)
{
	struct call c = { .queue = queue, .to = to, .bytes = bytes, .priority = priority };

	return wefti_ex_controlled() ? transfer(&c, time, CALLER) :
				       REAL(mq_timedreceive)(queue, to, bytes, priority, time);
}

EXPORT ssize_t mq_receive(mqd_t queue, char *to, size_t bytes, unsigned *priority)
{
	struct call c = { .queue = queue, .to = to, .bytes = bytes, .priority = priority };

	return wefti_ex_controlled() ? transfer(&c, NULL, CALLER) :
				       REAL(mq_receive)(queue, to, bytes, priority);
}
