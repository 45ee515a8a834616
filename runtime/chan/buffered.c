/* SPDX-License-Identifier: MIT */
/*
 * chan/buffered.c - channels with a buffer
 *
 * Structure
 *   A buffer (chan/buffer.h) and two lists of waiters (sync/waiters.c). A sender
 *   pushes, a receiver pops, and each then serves the waiting threads. While a receiver
 *   waits and there is a message, the receiver is claimed and a message popped for it.
 *   While a sender waits and there is room, the sender is claimed and its message
 *   pushed for it. If a receiver waits, and the buffer is empty, a sender claims the
 *   receiver and gives it the message without the buffer (hand_over).
 *
 * States
 *   The buffer has one state. A waiting thread is SHOWN, SETTLED, CLAIMED, and then
 *   HANDED or WOKEN. HANDED: another thread has done its call. WOKEN: it must try again
 *   itself, because the message or the room was gone when it had been claimed, or
 *   because it was only SHOWN.
 *
 * Invariants
 *   I1  When all calls have gone through their steps, no receiver waits while there is
 *       a message, and no sender waits while there is room.
 *       Each call that has changed the buffer serves. Each call that finds no room, or
 *       no message, serves the threads that would make some, and tries once more. Each
 *       call that is to wait does this again, behind the fence of waiters.c: P4. So the
 *       next call does what a stopped call has left undone, even a call that does not
 *       wait. (That has no fence. A thread that it overlooks began to wait at the same
 *       time, and the next call sees that thread.)
 *       A call that has seen no thread wait on its own side before its change looks
 *       only at the other side afterwards. A thread that came to its own side in
 *       between has looked at the buffer since, and has seen the same room, or
 *       messages.
 *   I2  After a call has changed the buffer, the channel may end, and its struct may
 *       become another channel, of any kind. The call then touches only the lists of
 *       waiters, which are lists of waiters in all lives of the struct, until it has
 *       claimed a waiter. The claimed waiter keeps alive the channel that the struct is
 *       then. So all else is read behind the claim, the kind first. A waiter of a
 *       rendezvous is told to try again, and the call ends. A waiter of a buffer is
 *       served, as any call would serve it.
 *   I3  A waiter that was claimed and not served is told to try this channel first. So
 *       a wake-up is never lost on a waiter that then does something else.
 *   I4  A thread that is SHOWN may still be looking at the buffer. It is not served but
 *       told to try again: another thread that learned of its message could end the
 *       channel's life. A thread that is PARKED looks no more; but if the buffer is
 *       small, its post-switch action does. Slots of a small buffer are in the struct.
 *       So the action reads what is a slot, or nothing, in all lives of the struct, and
 *       the lists of waiters. If the struct is another channel by then, the wait is
 *       over, and what the action finds has no effect (chan/alone.c: post_wait).
 *
 * Linearization
 *   The push or pop, whichever thread made it. A send and a receive without the buffer:
 *   both at the load in hand_over() that shows the buffer empty and open. The receiver's
 *   wait has been claimed before that load, and ends after it. -EAGAIN, -EPIPE: see
 *   buffer.h.
 *
 * Progress
 *   Lock-free: serving goes on only while messages are moved. A message that is a word
 *   passes outside the runtime; between any two steps its thread may lose its VCPU or
 *   be preempted, and is then stopped for the others. A thread that is stopped between
 *   a claim and its finish delays the thread that it has claimed: it copies that
 *   thread's message. A thread that is stopped after it has ended another's wait delays
 *   that thread until it is ready. At any other step it delays no other thread. A SHOWN
 *   thread is sent back only while there is a message or room for it; then it, or
 *   another thread, moves one.
 *
 * ABA and reclamation
 *   See buffer.h and waiters.c.
 *
 * Pairs
 *   Push, pop, close, or a load that shows it closed; fence; look for waiters.
 *   Added to the waiters; fence; look at the buffer, or whether the slot is as it was
 *   (buffer.h: I5). This is waiters.c's P4; the fences are in buffer.h, and in
 *   wefti_chan_found_closed().
 *
 * Source
 *   Ours. That a receiver which makes room puts in the waiting sender's message is Go's
 *   (runtime/chan.go), where it is done under a lock.
 */
#include "chan/chan.h"

/*
 * Claims the first thread of q that has looked at the buffer, and finds its alternative.
 * By I2 c may be another channel by now: the one in which the claimed thread waits. It
 * stays so. At a rendezvous there is no buffer: that thread tries again.
 */
static ALWAYS_INLINE struct wefti_thread *claim(struct weft_chan *c, unsigned op,
				  struct wefti_thread *self, struct weft_alt **a)
{
	struct wefti_waiters *q = wefti_chan_side(c, op);
	struct wefti_thread *t;

	while ((t = wefti_waiters_claim(q, self))) {
		*a = wefti_alts_match(t->alts, c, op);
		if (unlikely(c->kind != WEFTI_CHAN_BUFFERED)) {
			wefti_alts_retry(t, *a);	/* I2 */
			return NULL;
		}
		if (likely(wefti_wait_is_parked(t)))
			break;
		wefti_alts_retry(t, *a);	/* I4 */
	}
	return t;
}

/* Returns 1 if the claimed receiver was served. *more: there is another message. */
static int pop_for(struct weft_chan *c, struct wefti_thread *self,
		   struct wefti_thread *t, struct weft_alt *a, int *more)
{
	uint64_t word;

	if (wefti_buffer_pop(&c->buffer, &word, more)) {
		wefti_alts_retry(t, a);
		return 0;
	}
	wefti_message_unpack(c->cell_class, a->elem, c->elem_bytes,
			     self->vcpu, word);
	wefti_alts_done(t, a, 0);
	return 1;
}

/* The same for a receiver that waits, if there is one. */
static int serve_receiver(struct weft_chan *c, struct wefti_thread *self,
			  int *more)
{
	struct weft_alt *a;
	struct wefti_thread *t = claim(c, WEFT_ALT_RECV, self, &a);

	return t && pop_for(c, self, t, a, more);
}

/* Returns 1 if a sender was served. *room: there is room for another message. */
static int serve_sender(struct weft_chan *c, struct wefti_thread *self,
			int *room)
{
	struct weft_alt *a;
	struct wefti_thread *t = claim(c, WEFT_ALT_SEND, self, &a);
	enum wefti_cell_class class;
	uint64_t word;

	if (!t)
		return 0;
	class = c->cell_class;	/* not earlier: I2 */
	if (!wefti_message_pack(class, a->elem, c->elem_bytes, self->vcpu,
				&word)) {
		if (!wefti_buffer_push(&c->buffer, word, room)) {
			wefti_alts_done(t, a, 0);
			return 1;
		}
		wefti_message_drop(class, self->vcpu, word);
	}
	wefti_alts_retry(t, a);
	return 0;
}

/* gives: there may be messages for receivers. takes: there may be room for senders. */
static NOINLINE void serve(struct weft_chan *c, struct wefti_thread *self,
			   int gives, int takes)
{
	while (gives || takes) {
		if (gives) {
			if (serve_receiver(c, self, &gives))
				takes = 1;
			else
				gives = 0;
		}
		if (takes) {
			if (serve_sender(c, self, &takes))
				gives = 1;
			else
				takes = 0;
		}
	}
}

static inline int nobody_waits(struct weft_chan *c)
{
	return likely(wefti_waiters_is_empty(&c->receivers)) &&
	       likely(wefti_waiters_is_empty(&c->senders));
}

/*
 * The channel is full or closed. If it is full and a receiver waits, a stopped call has
 * left it so: serves, which makes room (I1).
 */
static NOINLINE int push_failed(struct weft_chan *c, uint64_t word, int error,
				struct wefti_thread *self)
{
	enum wefti_cell_class class = c->cell_class;
	int room;

	if (error == -EAGAIN && !wefti_waiters_is_empty(&c->receivers)) {
		serve(c, self, 1, 0);
		error = wefti_buffer_push(&c->buffer, word, &room);
		if (!error) {
			serve(c, self, 1, room);
			return 0;
		}
	}
	wefti_message_drop(class, self->vcpu, word);
	if (error == -EPIPE)
		wefti_chan_found_closed(c, self);
	return error;
}

/*
 * If a receiver waits, and the buffer is empty, the receiver gets the message without the
 * buffer. Returns 0, or -EAGAIN: the message has to go through the buffer.
 *
 * The claim comes first. So the load that shows the buffer empty is a moment of both
 * calls, at which they linearize.
 */
static ALWAYS_INLINE int hand_over(struct weft_chan *c, const void *elem,
				   struct wefti_thread *self)
{
	struct weft_alt *a;
	struct wefti_thread *t = claim(c, WEFT_ALT_RECV, self, &a);
	int more;

	if (!t)
		return -EAGAIN;
	if (unlikely(!wefti_buffer_is_idle(&c->buffer)) && wefti_buffer_gives(&c->buffer)) {
		if (pop_for(c, self, t, a, &more))
			serve(c, self, more, 1);	/* I1 */
		return -EAGAIN;
	}
	if (likely(a->elem != NULL))
		wefti_message_copy(a->elem, elem, c->elem_bytes);
	wefti_alts_hand(self, t, a);
	return 0;
}

int wefti_buffered_hand(struct weft_chan *c, const void *elem, int64_t deadline)
{
	struct wefti_thread *self = wefti_enter();
	int error = hand_over(c, elem, self);

	wefti_leave(self);
	return likely(!error) ? 0 : wefti_chan_send_inside(c, elem, deadline);
}

int wefti_buffered_send(struct weft_chan *c, const void *elem,
			struct wefti_thread *self)
{
	uint64_t word;
	int room, error;

	if (!wefti_waiters_is_empty(&c->receivers) && hand_over(c, elem, self) == 0)
		return 0;
	error = wefti_message_pack(c->cell_class, elem, c->elem_bytes, self->vcpu,
				   &word);
	if (unlikely(error))
		return error;
	error = wefti_buffer_push(&c->buffer, word, &room);
	if (unlikely(error))
		return push_failed(c, word, error, self);
	if (unlikely(!nobody_waits(c)))
		serve(c, self, 1, room);
	return 0;
}

/* The channel is empty, and perhaps closed: the same for a receive. */
static NOINLINE int pop_failed(struct weft_chan *c, void *elem, int error,
			       struct wefti_thread *self)
{
	enum wefti_cell_class class = c->cell_class;
	uint32_t bytes = c->elem_bytes;
	uint64_t word;
	int more;

	if (error == -EAGAIN && !wefti_waiters_is_empty(&c->senders)) {
		serve(c, self, 0, 1);
		error = wefti_buffer_pop(&c->buffer, &word, &more);
		if (!error) {
			serve(c, self, more, 1);
			wefti_message_unpack(class, elem, bytes, self->vcpu,
					     word);
			return 0;
		}
	}
	if (error == -EPIPE)
		wefti_chan_found_closed(c, self);
	return error;
}

int wefti_buffered_recv(struct weft_chan *c, void *elem,
			struct wefti_thread *self)
{
	enum wefti_cell_class class = c->cell_class;
	uint32_t bytes = c->elem_bytes;
	uint64_t word;
	int more, error = wefti_buffer_pop(&c->buffer, &word, &more);

	if (unlikely(error))
		return pop_failed(c, elem, error, self);
	if (unlikely(!nobody_waits(c)))
		serve(c, self, more, 1);
	wefti_message_unpack(class, elem, bytes, self->vcpu, word);
	return 0;
}

COLD int wefti_buffered_serve_outside(struct weft_chan *c, unsigned op)
{
	struct wefti_thread *self = wefti_enter();

	serve(c, self, op == WEFT_ALT_RECV, op == WEFT_ALT_SEND);
	wefti_leave(self);
	return 0;
}

static int can_go(struct weft_chan *c, unsigned op)
{
	return op == WEFT_ALT_SEND ? wefti_buffer_takes(&c->buffer) :
				     wefti_buffer_gives(&c->buffer);
}

int wefti_buffered_may_go_on(struct weft_chan *c, unsigned op,
			     struct wefti_thread *self)
{
	if (can_go(c, op))
		return 1;
	/* I1: serves the other side if it was left waiting. */
	if (!wefti_waiters_find(wefti_chan_side(c, op == WEFT_ALT_SEND ?
						WEFT_ALT_RECV : WEFT_ALT_SEND),
				self, self->slot))
		return 0;
	serve(c, self, op == WEFT_ALT_SEND, op == WEFT_ALT_RECV);
	return can_go(c, op);
}
