/* SPDX-License-Identifier: MIT */
/*
 * armed.h - threads of no runtime that wait in channels
 *
 * Their waits begin, and nobody parks: so a test alone decides in which order
 * they come. What ends such a wait makes no thread ready.
 */
#ifndef WEFT_TESTS_CHAN_ARMED_H
#define WEFT_TESTS_CHAN_ARMED_H

#include "chan/chan.h"
#include "support.h"
#include "thread/bare.h"
#include "thread/wait.h"

#define ARMED_ALTS	3

struct armed {
	struct wefti_thread *t;
	struct wefti_alts alts;
	struct weft_alt alt[ARMED_ALTS];
	uint64_t seq;
};

static inline struct wefti_thread *armed_thread(void)
{
	struct wefti_thread *t = wefti_thread_bare(WEFTI_KIND_FOREIGN, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	return t;
}

/* The wait begins; it is in nothing yet. The same one may begin again. */
static inline void armed_begin(struct armed *a)
{
	if (!a->t)
		a->t = armed_thread();
	a->alts = (struct wefti_alts){
		.alt = a->alt, .self = a->t, .chosen = ARMED_ALTS,
		.claimed = ARMED_ALTS, .error = 1,
	};
	a->t->alts = &a->alts;
	a->seq = wefti_wait_begin(a->t, WEFTI_WAIT_TIMED |
				  WEFTI_WAIT_CANCELLABLE);
	a->alts.ticket = wefti_ticket(a->t, a->seq);
}

/* For one more alternative. */
static inline void armed_add(struct armed *a, struct weft_chan *c, unsigned op,
			     void *elem)
{
	struct weft_alt *alt = &a->alt[a->alts.count++];

	*alt = (struct weft_alt){ .op = op, .chan = c, .elem = elem };
	if (c->kind == WEFTI_CHAN_ONE)
		wefti_one_add(c, op, a->alts.ticket);
	else
		CU_ASSERT_EQUAL_FATAL(wefti_waiters_add(wefti_chan_side(c, op),
				a->alts.ticket, a->t, alt->weft_private), 0);
}

static inline void armed_in(struct armed *a, struct weft_chan *c, unsigned op,
			    void *elem)
{
	armed_begin(a);
	armed_add(a, c, op, elem);
}

static inline int armed_waits(const struct armed *a)
{
	return wefti_wait_is_open(a->t, a->alts.ticket);
}

/* How the wait has ended; NONE: it has not. */
static inline enum wefti_cause armed_cause(const struct armed *a)
{
	return wefti_wait_cause(a->t);
}

/* It goes, as chan/chan_wait.c has it go. */
static inline void armed_end(struct armed *a)
{
	wefti_wait_resolve(a->t, a->seq, WEFTI_CAUSE_TIMEDOUT);
	for (size_t i = 0; i < a->alts.count; i++) {
		struct weft_alt *alt = &a->alt[i];

		if (alt->chan->kind == WEFTI_CHAN_ONE)
			wefti_one_retire(alt->chan, alt->op, a->alts.ticket);
		else if (i != a->alts.claimed && alt->weft_private[0])
			wefti_waiters_retire(wefti_chan_side(alt->chan,
					alt->op), a->t, alt->weft_private);
	}
}

static inline struct weft_chan *armed_chan(size_t bytes, size_t capacity,
					   unsigned flags)
{
	struct weft_chan *c = NULL;

	CU_ASSERT_EQUAL_FATAL(weft_chan_create(&c, bytes, capacity, flags), 0);
	return c;
}

static inline void armed_chan_end(struct weft_chan *c)
{
	CU_ASSERT_EQUAL_FATAL(weft_chan_destroy(c), 0);
}

#endif
