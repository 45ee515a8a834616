/* SPDX-License-Identifier: MIT */
/* sched/park.h - a thread stops until it is woken, timed out or cancelled */
#ifndef WEFT_SCHED_PARK_H
#define WEFT_SCHED_PARK_H

#include "thread/wait.h"
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
 * flags: WEFTI_WAIT_TIMED if the deadline may end it, WEFTI_WAIT_CANCELLABLE if
 * a cancellation may. The entry in the queue is then stale.
 */
static inline uint64_t wefti_park_begin(struct wefti_thread *self,
		uint64_t flags, enum wefti_why why, const void *object)
{
	self->why = (uint8_t)why;
	store_relaxed(&self->waits_for, object);
	return wefti_wait_begin(self, flags);
}

/* Nothing was published: not waiting after all. */
static inline void wefti_park_end(struct wefti_thread *self)
{
	uint64_t w = load_relaxed(&self->wait);

	self->why = WEFTI_WHY_NOTHING;
	store_relaxed(&self->wait, w >> WEFTI_WAIT_SEQ_SHIFT <<
		      WEFTI_WAIT_SEQ_SHIFT);
}

/* May park. Returns how the episode ended. */
enum wefti_cause wefti_park(struct wefti_thread *self, int64_t deadline);

/* Resolves and makes ready. Returns 0 when the episode was over. */
int wefti_unpark(struct wefti_thread *t, uint64_t seq, enum wefti_cause cause);

/* What thread->cancel is when the thread of that generation is asked to end. */
static inline uint8_t wefti_cancel_mark(uint32_t gen)
{
	return (uint8_t)((gen >> 1) % 255 + 1);
}

static inline int wefti_cancel_is_asked(const struct wefti_thread *self)
{
	return load_seq_cst(&self->cancel) ==
	       wefti_cancel_mark(load_relaxed(&self->gen));
}

/* Asked to end, and not holding it off? */
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
 * By a post-switch action, behind the RMW that made the ticket known: t may be
 * anything by now, also no more.
 */
static inline void wefti_park_look_for_cancel(struct wefti_thread *t,
					      uint64_t ticket)
{
	fence_seq_cst_after_rmw();	/* of park.c: P1; of cancel.c: P1 */
	if (unlikely(load_relaxed(&t->cancel)) && wefti_cancel_is_asked(t))
		/* Of those that may be cancelled. */
		wefti_unpark(t, ticket, WEFTI_CAUSE_CANCELLED);
}

/* Gives way to other ready threads. Inside the runtime. */
void wefti_yield(struct wefti_thread *self);

#endif
