/* SPDX-License-Identifier: MIT */
/* crowd.h - threads that each make one call, and when they are parked in it */
#ifndef WEFT_TESTS_CHAN_CROWD_H
#define WEFT_TESTS_CHAN_CROWD_H

#include "chan/chan.h"
#include "thread/bare.h"
#include "thread/wait.h"
#include "threads.h"

struct crowd_call {
	void *object;
	long number;
	uint64_t id;
};

/* Until the thread is parked, in whatever it waits for. */
static inline void crowd_await_parked(uint64_t id)
{
	while (!is_parked(id))
		rest();
}

static inline int crowd_is_in(struct wefti_thread *t, struct wefti_waiters *q)
{
	return (uint32_t)load_seq_cst(&q->count) != 0 ||
	       load_seq_cst(&q->lone) ==
	       wefti_ticket(t, load_seq_cst(&t->wait) >> WEFTI_WAIT_SEQ_SHIFT);
}

/*
 * The same of a single call on c, and the channel knows of it: at a rendezvous
 * and a small buffer that comes behind the park (chan/rendezvous.c, buffered.c).
 */
static inline void crowd_await_in(uint64_t id, struct weft_chan *c)
{
	struct wefti_thread *t = wefti_thread_find(id);

	must(t != NULL);
	while (!wefti_wait_is_parked(t) ||
	       (c->kind != WEFTI_CHAN_ONE &&
		!crowd_is_in(t, &c->senders) && !crowd_is_in(t, &c->receivers)))
		rest();
}

#endif
