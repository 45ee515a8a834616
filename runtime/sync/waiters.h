/* SPDX-License-Identifier: MIT */
/*
 * sync/waiters.h - the threads that wait on one side of a channel, or for a
 * descriptor, in order
 *
 * waiters.c has the algorithm and its argument. A waiting thread puts its ticket in. A
 * thread that can serve it finds the ticket, claims it (thread/wait.h) and ends the
 * wait, or resolves it at once. The thread that ends a wait need not take its ticket
 * out.
 */
#ifndef WEFT_SYNC_WAITERS_H
#define WEFT_SYNC_WAITERS_H

#include "lockfree/atomic.h"
#include "thread/wait.h"

/* Zero-filled is empty. Links are number:32 | tag:32. */
struct wefti_waiters {
	_Atomic uint64_t lone;		/* a ticket before all others, or 0 */
	_Atomic uint64_t first;
	_Atomic uint64_t last;		/* a hint: where the next add begins */
	_Atomic uint64_t count;		/* life:32 | at least as many as wait in the
					 * segments */
};

/*
 * Puts the ticket in, behind all others; once more for each alternative of its thread.
 * Makes a full fence afterwards: what is loaded later is not older than the ticket's
 * entry. place is for wefti_waiters_retire(), unless place[0] is 0. Returns 0 or
 * -ENOMEM. Called inside the runtime.
 */
MUST_USE int wefti_waiters_add(struct wefti_waiters *q, uint64_t ticket,
			       struct wefti_thread *self, uint64_t place[2]);

static inline int wefti_ticket_is_open(uint64_t ticket)
{
	return wefti_wait_is_open(wefti_ticket_thread(ticket), ticket);
}

/* Does no thread wait, so that a ticket may take the place of *lone? */
static inline int wefti_waiters_takes_lone(struct wefti_waiters *q,
					   uint64_t *lone)
{
	*lone = load_acquire(&q->lone);		/* P1 */
	return (!*lone || !wefti_ticket_is_open(*lone)) &&
	       likely((uint32_t)load_relaxed(&q->count) == 0);	/* I6 */
}

/*
 * The same as wefti_waiters_add(), but only if no other thread has come since
 * wefti_waiters_takes_lone() returned 1 with this `lone`; then returns 1. It needs no
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

/* The oldest open ticket in the segments that is not of the thread in `slot`; or 0. */
uint64_t wefti_waiters_find_in(struct wefti_waiters *q,
			       struct wefti_thread *self, uint32_t slot);

/*
 * Does a thread wait? If none does, 0. Else any other number, as also for a DEAD ticket
 * in lone. Two loads, behind the fence of waiters.c: P4.
 */
static inline uint64_t wefti_waiters_may_be_in(const struct wefti_waiters *q)
{
	return load_relaxed(&q->lone) | (uint32_t)load_relaxed(&q->count);
}

static inline int wefti_waiters_is_empty(const struct wefti_waiters *q)
{
	return !wefti_waiters_may_be_in(q);
}

/*
 * The oldest ticket whose wait is open and that is not of the thread in `slot`; 0 if
 * there is none. The caller claims it, and asks again if another thread was first. self
 * is the caller, for its VCPU's stock; NULL if it has no VCPU. No slot is 0.
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

/* Claims and returns the oldest waiting thread, except self; NULL if there is none. */
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
 * The wait of a ticket in place is over, and was not ended by wefti_waiters_claim().
 * Called once for each place whose first word is not 0. q may belong to another channel
 * by now.
 */
void wefti_waiters_retire(struct wefti_waiters *q, struct wefti_thread *self,
			  const uint64_t place[2]);

/*
 * The same for any place, called by the ticket's thread. For queues without claims, so
 * that a thread leaves nothing behind. q must be the same still.
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
 * For a caller that tells all threads that were in before its fence (waiters.c: P4):
 * the ticket in lone or 0, and how many of those that wefti_waiters_find_in() then
 * finds. Each wait is ended before the next ticket is looked for. Threads that come
 * later know of the fence.
 */
static inline uint64_t wefti_waiters_lone(const struct wefti_waiters *q)
{
	return load_acquire(&q->lone);		/* P1 */
}

static inline uint32_t wefti_waiters_behind(const struct wefti_waiters *q)
{
	return (uint32_t)load_acquire(&q->count);	/* P6 */
}

/* The number of its life, which changes with wefti_waiters_end(). */
static inline uint32_t wefti_waiters_life(const struct wefti_waiters *q)
{
	return (uint32_t)(load_relaxed(&q->count) >> 32);
}

/* Gives back all memory, and begins another life: the channel ends. */
void wefti_waiters_end(struct wefti_waiters *q, struct wefti_thread *self);

#endif
