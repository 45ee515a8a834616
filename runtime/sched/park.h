/* SPDX-License-Identifier: MIT */
/* sched/park.h - a thread stops until it is woken, timed out or cancelled */
#ifndef WEFT_SCHED_PARK_H
#define WEFT_SCHED_PARK_H

#include "thread/wait.h"
#include "sched/ready.h"
#include "sched/seat.h"

/*
 * The pattern:
 *
 *	self = wefti_enter();
 *	seq = wefti_park_begin(self, flags, why, object);
 *	publish (self, seq) where a waker finds it, or wefti_park_end(self)
 *	cause = wefti_park(self, deadline);
 *	wefti_leave(self);
 *
 * flags: WEFTI_WAIT_TIMED if the deadline may end the wait, WEFTI_WAIT_CANCELLABLE if a
 * cancellation may. Either leaves a stale entry in the queue.
 */
static inline uint64_t wefti_park_begin(struct wefti_thread *self,
		uint64_t flags, enum wefti_why why, const void *object)
{
	self->why = (uint8_t)why;
	store_relaxed(&self->waits_for, object);
	return wefti_wait_begin(self, flags);
}

/* Nothing was published: ends the wait that was begun. */
static inline void wefti_park_end(struct wefti_thread *self)
{
	uint64_t w = load_relaxed(&self->wait);

	self->why = WEFTI_WHY_NOTHING;
	store_relaxed(&self->wait, w >> WEFTI_WAIT_SEQ_SHIFT <<
		      WEFTI_WAIT_SEQ_SHIFT);
}

/* May park. Returns how the episode ended. */
enum wefti_cause wefti_park(struct wefti_thread *self, int64_t deadline);

/* Resolves the wait and makes t ready. Returns 0 when the episode was over. */
int wefti_unpark(struct wefti_thread *t, uint64_t seq, enum wefti_cause cause);

/* The value of thread->cancel when the thread of that generation is asked to end. */
static inline uint8_t wefti_cancel_mark(uint32_t gen)
{
	return (uint8_t)((gen >> 1) % 255 + 1);
}

static inline int wefti_cancel_is_asked(const struct wefti_thread *self)
{
	return load_seq_cst(&self->cancel) ==
	       wefti_cancel_mark(load_relaxed(&self->gen));
}

/* Is the thread asked to end, and does it not hold this off? */
static inline int wefti_is_cancelled(const struct wefti_thread *self)
{
	return unlikely(load_relaxed(&self->cancel)) &&
	       wefti_cancel_is_asked(self) && self->cold->cancel_hold == 0;
}

/* The flag of a wait that a cancellation may end, unless it is held off. */
static inline uint64_t wefti_cancel_flag(const struct wefti_thread *self)
{
	return self->cold->cancel_hold ? 0 : WEFTI_WAIT_CANCELLABLE;
}

/*
 * t has been asked to end, and a heavy fence was made after that. Ends t's wait if it
 * is the wait of the ticket (or seq), a cancellation may end it, and no sole waker is
 * ending it.
 */
static inline void wefti_park_cancel(struct wefti_thread *t, uint64_t ticket)
{
	uint64_t w = load_relaxed(&t->wait);
	uint64_t data = load_relaxed(&t->node.data);	/* of park.c: P2 */

	if ((w & WEFTI_WAIT_CANCELLABLE) &&
	    !((w & WEFTI_WAIT_SOLE) && data == WEFTI_NODE_TAKEN))
		wefti_unpark(t, ticket, WEFTI_CAUSE_CANCELLED);
}

/*
 * Called by a post-switch action, after the ticket was made known. t may have gone on,
 * or even have ended, by now.
 */
static inline void wefti_park_end_if_cancelled(struct wefti_thread *t,
					       uint64_t ticket)
{
	wefti_membarrier_light();	/* of park.c: P1; of cancel.c: P1 */
	if (likely(!load_relaxed(&t->cancel)) || !wefti_cancel_is_asked(t) ||
	    !(load_relaxed(&t->wait) & WEFTI_WAIT_CANCELLABLE))
		return;		/* or cancellation is held off, or the wait is over */
	wefti_membarrier_heavy();	/* of park.c: P2 */
	wefti_park_cancel(t, ticket);
}

/*
 * wefti_unpark() by the thread that took the node from its queue. It takes no RMW for a
 * SOLE wait that is not being cancelled.
 */
static inline int wefti_unpark_sole(struct wefti_node *node,
				    enum wefti_cause cause)
{
	struct wefti_thread *t = node->thread;
	uint64_t seq = node->seq;

	store_relaxed(&node->data, (uint64_t)WEFTI_NODE_TAKEN);
	wefti_membarrier_light();			/* of park.c: P2 */
	if (likely(!load_acquire(&t->cancel)) &&	/* of park.c: P2, P3 */
	    likely(wefti_wait_finish_sole(t, seq, cause))) {
		wefti_ready(t);
		return 1;
	}
	return wefti_unpark(t, seq, cause);
}

/* Gives way to other ready threads. Called inside the runtime. */
void wefti_yield(struct wefti_thread *self);

#endif
