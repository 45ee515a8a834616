/* SPDX-License-Identifier: MIT */
/*
 * chan/alone.c - a thread waits at a channel with a buffer, for one thing
 *
 * chan/buffered.c has the states, the invariants and the argument. This file has a green
 * thread without a deadline that would be the only waiter of its side. All other waits are
 * those of an alt (chan/chan_wait.c).
 *
 * The calls that find the buffer full or empty come here from chan/call.c by one call, and
 * have one frame here.
 */
#include "chan/chan.h"
#include "sched/park_by.h"

/* A thread that waits alone, for one thing, without a deadline. */
struct waiting {
	struct wefti_alts alts;		/* thread->alts */
	struct weft_alt a;
	struct wefti_pair *slot;	/* the wait is for a change of its hi */
	uint64_t hi;
};

/*
 * On another stack than t's: PARKED, then SHOWN (of buffered.c: I4). A cancellation may end
 * the wait at once.
 */
static void post_wait(struct wefti_thread *t)
{
	const struct waiting *w = (const struct waiting *)(const void *)t->alts;
	struct weft_chan *c = w->a.chan;
	struct wefti_pair *slot = w->slot;
	const uint64_t hi = w->hi, lone = w->alts.lone;
	unsigned op = w->a.op;
	struct wefti_waiters *other = wefti_chan_side(c, op == WEFT_ALT_SEND ?
						      WEFT_ALT_RECV : WEFT_ALT_SEND);
	uint64_t seq = wefti_wait_begin_parked(t, w->alts.flags);
	uint64_t ticket = wefti_ticket(t, seq);

	if (unlikely(!wefti_waiters_add_lone(wefti_chan_side(c, op), lone, ticket)) ||
	    unlikely(pair_hi_relaxed(slot) != hi) ||
	    (!wefti_waiters_is_empty(other) &&
	     unlikely(wefti_waiters_find(other, wefti_self(), t->slot))))
		wefti_unpark(t, ticket, WEFTI_CAUSE_WOKEN);
	else
		wefti_park_end_if_cancelled(t, ticket);
}

/* SHOWN while this thread still looks at the buffer (of buffered.c: I4). */
static enum wefti_cause wait_shown(struct weft_chan *c, struct waiting *w,
				   enum wefti_why why, struct wefti_thread *self)
{
	struct wefti_waiters *side = wefti_chan_side(c, w->a.op);
	uint64_t seq = wefti_park_begin(self, w->alts.flags, why, c);
	uint64_t ticket = wefti_ticket(self, seq);

	if (unlikely(!wefti_waiters_add_lone(side, w->alts.lone, ticket)) ||
	    unlikely(wefti_buffered_may_go_on(c, w->a.op, self)))
		(void)wefti_wait_resolve(self, ticket, WEFTI_CAUSE_WOKEN);
	return wefti_park(self, WEFT_FOREVER);
}

/* A copy for each operation. */
static ALWAYS_INLINE int wait_alone(struct weft_chan *c, const unsigned op, void *elem,
				    struct wefti_thread *self)
{
	const int sends = op == WEFT_ALT_SEND;
	const enum wefti_why why = sends ? WEFTI_WHY_SEND : WEFTI_WHY_RECV;
	struct waiting w;
	int error;

	w.a.op = op;
	w.a.chan = c;
	w.a.elem = elem;
	w.alts.alt = &w.a;
	w.alts.count = 1;
	w.alts.flags = wefti_cancel_flag(self);
	do {
		if (!wefti_buffer_goes(&c->buffer, sends, &w.slot, &w.hi)) {
			enum wefti_cause cause;

			if (unlikely(!wefti_waiters_takes_lone(
					wefti_chan_side(c, op), &w.alts.lone)))
				return -EAGAIN;
			self->alts = &w.alts;
			cause = wefti_buffer_is_small(&c->buffer) ?
				wefti_park_by(self, why, c, post_wait) :
				wait_shown(c, &w, why, self);
			if (likely(cause == WEFTI_CAUSE_HANDED))
				return w.alts.error;
			if (cause == WEFTI_CAUSE_CANCELLED)
				return -ECANCELED;
		}
		error = sends ? wefti_buffered_send(c, elem, self) :
				wefti_buffered_recv(c, elem, self);
	} while (error == -EAGAIN);
	return error;
}

int wefti_buffered_wait(struct weft_chan *c, unsigned op, void *elem,
			struct wefti_thread *self)
{
	return op == WEFT_ALT_SEND ? wait_alone(c, WEFT_ALT_SEND, elem, self) :
				     wait_alone(c, WEFT_ALT_RECV, elem, self);
}

/* May the caller wait without looking first? The wait looks itself. */
static inline int waits(const struct wefti_thread *self, int64_t deadline)
{
	return likely(deadline == WEFT_FOREVER) &&
	       likely(self->kind != WEFTI_KIND_FOREIGN) &&
	       likely(!load_relaxed(&self->cancel));
}

/* A copy for each operation. */
static ALWAYS_INLINE int wait_first(struct weft_chan *c, const unsigned op, void *elem,
				    int64_t deadline)
{
	struct wefti_thread *self = wefti_enter();
	int error;

	if (unlikely(!waits(self, deadline))) {
		wefti_leave(self);
		return op == WEFT_ALT_SEND ? wefti_chan_send_inside(c, elem, deadline) :
					     wefti_chan_recv_inside(c, elem, deadline);
	}
	error = wait_alone(c, op, elem, self);
	if (unlikely(error == -EAGAIN))
		error = wefti_chan_wait_in_line(c, op, elem, deadline, self);
	wefti_leave(self);
	return error;
}

int wefti_buffered_send_full(struct weft_chan *c, const void *elem, int64_t deadline)
{
	return wait_first(c, WEFT_ALT_SEND, (void *)(uintptr_t)elem, deadline);
}

int wefti_buffered_recv_empty(struct weft_chan *c, void *elem, int64_t deadline)
{
	return wait_first(c, WEFT_ALT_RECV, elem, deadline);
}
