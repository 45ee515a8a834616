/* SPDX-License-Identifier: MIT */
/*
 * chan/waiters.h - the threads that wait on one side of a channel, in order
 *
 * The algorithm and its argument are in waiters.c. A thread that waits puts its
 * ticket in; whoever can serve it finds it, claims the ticket (thread/wait.h)
 * and ends the wait. What is no longer waiting needs no taking out by the one
 * who ended it.
 */
#ifndef WEFT_CHAN_WAITERS_H
#define WEFT_CHAN_WAITERS_H

#include "lockfree/atomic.h"
#include "thread/wait.h"

/* Zero-filled is empty. Links are number:32 | tag:32. */
struct wefti_waiters {
	_Atomic uint64_t first;
	_Atomic uint64_t last;		/* a hint: where to go in */
	_Atomic uint64_t count;		/* life:32 | at least as many as wait */
};

/*
 * Puts the ticket in, behind all others. Full fence behind it: what is loaded
 * afterwards is not older than the ticket's being there. *place is for
 * wefti_waiters_retire(). Returns 0 or -ENOMEM. Inside the runtime.
 */
MUST_USE int wefti_waiters_add(struct wefti_waiters *q, uint64_t ticket,
			       struct wefti_thread *self, uint64_t place[2]);

/*
 * The oldest ticket whose wait is open and that is not of self; 0: there is
 * none. See wefti_waiters_find().
 */
uint64_t wefti_waiters_find_in(struct wefti_waiters *q,
			       struct wefti_thread *self);

/* Does nobody wait? One load, behind the fence of waiters.c: P4. */
static inline int wefti_waiters_is_empty(const struct wefti_waiters *q)
{
	return (uint32_t)load_relaxed(&q->count) == 0;
}

/* The caller claims it, and asks again when another was first. */
static inline uint64_t wefti_waiters_find(struct wefti_waiters *q,
					  struct wefti_thread *self)
{
	return wefti_waiters_is_empty(q) ? 0 : wefti_waiters_find_in(q, self);
}

/* The oldest thread that waits, claimed; NULL: there is none. */
static inline struct wefti_thread *wefti_waiters_claim(struct wefti_waiters *q,
						struct wefti_thread *self)
{
	uint64_t ticket;

	while ((ticket = wefti_waiters_find(q, self))) {
		struct wefti_thread *t = wefti_ticket_thread(ticket);

		if (likely(wefti_wait_claim(t, ticket))) {
			fetch_sub_relaxed(&q->count, 1);
			return t;
		}
	}
	return NULL;
}

/*
 * The wait of a ticket in place is over, and not by wefti_waiters_claim(). Once
 * for each place. q may be of another channel by now.
 */
void wefti_waiters_retire(struct wefti_waiters *q, struct wefti_thread *self,
			  const uint64_t place[2]);

/* Gives everything back, and begins another life: the channel ends. */
void wefti_waiters_end(struct wefti_waiters *q, struct wefti_thread *self);

/* How many segments there are, for tests. */
unsigned wefti_waiters_segments(struct wefti_waiters *q);

#endif
