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

/* Parked first, it becomes known to the channel afterwards: chan/meeting.c. */
static inline int crowd_is_known(struct wefti_thread *t)
{
	uint64_t w = load_seq_cst(&t->wait);
	unsigned why = t->why;
	struct weft_chan *c;
	struct wefti_waiters *q;

	if ((w & WEFTI_WAIT_PHASE) != WEFTI_WAIT_PARKED)
		return 0;
	if (why != WEFTI_WHY_SEND && why != WEFTI_WHY_RECV)
		return 1;
	c = (struct weft_chan *)(uintptr_t)load_seq_cst(&t->waits_for);
	if (c->kind != WEFTI_CHAN_MEETING)
		return 1;
	q = wefti_chan_side(c, why == WEFTI_WHY_SEND ? WEFT_ALT_SEND :
						       WEFT_ALT_RECV);
	return (uint32_t)load_seq_cst(&q->count) != 0 ||
	       load_seq_cst(&q->lone) ==
	       wefti_ticket(t, w >> WEFTI_WAIT_SEQ_SHIFT);
}

/* Until the thread is parked, in whatever it waits for. */
static inline void crowd_await_parked(uint64_t id)
{
	struct wefti_thread *t = wefti_thread_find(id);

	must(t != NULL);
	while (!crowd_is_known(t))
		rest();
}

#endif
