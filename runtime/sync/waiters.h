/* SPDX-License-Identifier: MIT */
/*
 * sync/waiters.h - the threads that wait on one side of a channel, or for a
 * descriptor, in order
 *
 * The algorithm and its argument are in waiters.c. A thread that waits puts its
 * ticket in; whoever can serve it finds it, claims the ticket (thread/wait.h)
 * and ends the wait, or resolves it at once. What is no longer waiting needs no
 * taking out by the one who ended it.
 */
#ifndef WEFT_SYNC_WAITERS_H
#define WEFT_SYNC_WAITERS_H

#include "lockfree/atomic.h"
#include "thread/wait.h"

/* Zero-filled is empty. Links are number:32 | tag:32. */
struct wefti_waiters {
	_Atomic uint64_t lone;		/* a ticket before all others, or 0 */
	_Atomic uint64_t first;
	_Atomic uint64_t last;		/* a hint: where to go in */
	_Atomic uint64_t count;		/* life:32 | at least as many as wait
					 * in the segments */
};

/*
 * Puts the ticket in, behind all others; also again, for another alternative of
 * its thread. Full fence behind it: what is loaded afterwards is not older than the
 * ticket's being there. *place is for wefti_waiters_retire(), unless place[0] is 0.
 * Returns 0 or -ENOMEM. Inside the runtime.
 */
MUST_USE int wefti_waiters_add(struct wefti_waiters *q, uint64_t ticket,
			       struct wefti_thread *self, uint64_t place[2]);

static inline int wefti_ticket_is_open(uint64_t ticket)
{
	return wefti_wait_is_open(wefti_ticket_thread(ticket), ticket);
}

/* Does nobody wait, so that a ticket may take the place of *lone? */
static inline int wefti_waiters_takes_lone(struct wefti_waiters *q,
					   uint64_t *lone)
{
	*lone = load_acquire(&q->lone);		/* P1 */
	return (!*lone || !wefti_ticket_is_open(*lone)) &&
	       likely((uint32_t)load_relaxed(&q->count) == 0);	/* I6 */
}

/*
 * The same as wefti_waiters_add(), but only if nobody else has come since
 * wefti_waiters_takes_lone() said yes, with this `lone`: then 1. It needs no
 * place and no memory, and never wefti_waiters_retire().
 */
static inline int wefti_waiters_add_lone(struct wefti_waiters *q,
					 uint64_t lone, uint64_t ticket)
{
	/* NONE, DEAD -> WAITING. P1 */
	if (unlikely(!cas_release(&q->lone, &lone, ticket)))
		return 0;
	fence_seq_cst_after_rmw();	/* P4 */
	return 1;
}

/* The oldest open ticket in the segments that is not of the thread in `slot`. */
uint64_t wefti_waiters_find_in(struct wefti_waiters *q,
			       struct wefti_thread *self, uint32_t slot);

/* Does nobody wait? Two loads, behind the fence of waiters.c: P4. */
static inline int wefti_waiters_is_empty(const struct wefti_waiters *q)
{
	return !load_relaxed(&q->lone) && (uint32_t)load_relaxed(&q->count) == 0;
}

/*
 * The oldest ticket whose wait is open and that is not of the thread in `slot`;
 * 0: there is none. The caller claims it, and asks again when another was first.
 * self is who asks, for its VCPU's stock; NULL: it has none. No slot is 0.
 */
static inline uint64_t wefti_waiters_find(struct wefti_waiters *q,
		struct wefti_thread *self, uint32_t slot)
{
	uint64_t lone = load_acquire(&q->lone);		/* P1 */

	if (lone && lone >> WEFTI_TICKET_SEQ_BITS != slot &&
	    wefti_ticket_is_open(lone))
		return lone;
	return likely((uint32_t)load_relaxed(&q->count) == 0) ? 0 :
	       wefti_waiters_find_in(q, self, slot);
}

struct wefti_thread *wefti_waiters_claim_behind(struct wefti_waiters *q,
						struct wefti_thread *self);

/* The oldest thread that waits, claimed, but not self; NULL: there is none. */
static ALWAYS_INLINE struct wefti_thread *wefti_waiters_claim(
		struct wefti_waiters *q, struct wefti_thread *self)
{
	uint64_t ticket = load_acquire(&q->lone);	/* P1 */

	if (likely(ticket)) {
		struct wefti_thread *t = wefti_ticket_thread(ticket);

		if (likely(t != self) && likely(wefti_wait_claim(t, ticket)))
			return t;
		if (!wefti_wait_is_open(t, ticket))
			cas_relaxed(&q->lone, &ticket, (uint64_t)0);   /* I7 */
	}
	return likely((uint32_t)load_relaxed(&q->count) == 0) ? NULL :
	       wefti_waiters_claim_behind(q, self);
}

/*
 * The wait of a ticket in place is over, and not by wefti_waiters_claim(). Once
 * for each place whose first word is not 0. q may be of another channel by now.
 */
void wefti_waiters_retire(struct wefti_waiters *q, struct wefti_thread *self,
			  const uint64_t place[2]);

/*
 * The same for any place, by the ticket's thread: where claims are not used, so
 * that nothing is left behind by who has waited. q is the same still.
 */
static inline void wefti_waiters_take_out(struct wefti_waiters *q,
		uint64_t ticket, struct wefti_thread *self,
		const uint64_t place[2])
{
	if (unlikely(place[0]))
		wefti_waiters_retire(q, self, place);
	else if (likely(load_relaxed(&q->lone) == ticket))
		cas_relaxed(&q->lone, &ticket, (uint64_t)0);	/* I7 */
}

/*
 * For who tells all that were in before its fence (waiters.c: P4): the one in
 * lone or 0, and how many of those that wefti_waiters_find_in() then finds, each
 * ended before the next is looked for. Who comes later knows of the fence.
 */
static inline uint64_t wefti_waiters_lone(const struct wefti_waiters *q)
{
	return load_acquire(&q->lone);		/* P1 */
}

static inline uint32_t wefti_waiters_behind(const struct wefti_waiters *q)
{
	return (uint32_t)load_acquire(&q->count);	/* P6 */
}

/* Which life it is in; it changes with wefti_waiters_end(). */
static inline uint32_t wefti_waiters_life(const struct wefti_waiters *q)
{
	return (uint32_t)(load_relaxed(&q->count) >> 32);
}

/* Gives everything back, and begins another life: the channel ends. */
void wefti_waiters_end(struct wefti_waiters *q, struct wefti_thread *self);

/* How many segments there are, for tests. */
unsigned wefti_waiters_segments(struct wefti_waiters *q);

#endif
