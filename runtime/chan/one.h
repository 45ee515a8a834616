/* SPDX-License-Identifier: MIT */
/*
 * chan/one.h - the ring of a channel that is declared to have one sender and one
 * receiver
 *
 * Structure
 *   Messages are in an array. tail counts those sent and head those received; both only
 *   grow. tail's top bit is CLOSED. Each side keeps the last value that it saw of the
 *   other's counter, and looks again when that value says full or empty. receiver_waits
 *   and sender_waits are the ticket of the waiting thread, or 0.
 *
 * States of a message's place
 *   FREE     its number is not in head .. tail; it is the sender's
 *   FULL     its number is in head .. tail; it is the receiver's
 *
 *   FREE --send: tail + 1--> FULL --receive: head + 1--> FREE
 *
 * Writers
 *   one.head  wefti_one_pop; chan/chan.c: one_init
 *   one.receiver_waits  wefti_one_add, wefti_one_retire; chan/chan.c: one_init
 *   one.sender_waits  wefti_one_add, wefti_one_retire; chan/chan.c: one_init
 *   one.tail  wefti_one_close, wefti_one_push; chan/chan.c: one_init
 *
 * Invariants
 *   I1  head <= tail <= head + capacity.
 *   I2  Only the sender changes tail, except for setting CLOSED once; only the receiver
 *       changes head.
 *   I3  A waiting thread has stored its ticket before its last look. A thread that
 *       sends or receives looks for a ticket afterwards. So one of the two sees the
 *       other.
 *   I4  After its change of tail or head, a call touches only the words of the tickets,
 *       which are tickets in all lives of the struct. The other side may have ended
 *       this life.
 *   I5  A call that finds the channel closed wakes the threads that the close may not
 *       have woken yet: a close wakes both sides, a send the receiver. A receive need
 *       not: a sender that waits had a full buffer before it, and the receives that
 *       emptied the buffer have woken it (I3).
 *
 * Linearization
 *   send: at the CAS of tail. receive: at the exchange of head. close: at the RMW that
 *   sets CLOSED. Full, empty, closed: at the load that shows it.
 *
 * Progress
 *   Wait-free, except the wait itself. A send has one CAS, which fails at most once,
 *   because of a close. Waking the other side is one claim of its wait word (the CAS
 *   fails at most twice, because of commit and a time-out), one CAS that takes its
 *   ticket out, and one finish. A close, and a send that finds it closed, have one RMW
 *   or fence, and one resolve, with as many CAS, for each waiting thread. Making the
 *   thread ready may be a push into the injection queue, which is lock-free.
 *   tests/stall/test_steps_one.c counts the steps of calls that do not wait, and of
 *   calls that wake the other side.
 *
 *   A thread that is stopped in a send or a receive, between its change and the end of
 *   its wake, delays the other side if that waits: no other thread may call in its
 *   place. A close wakes the other side, unless it is claimed already. A thread that is
 *   stopped in a close delays the thread that it has resolved and not yet made ready;
 *   by I5 others wake the rest.
 *
 * ABA and reclamation
 *   The counters do not wrap within 2^63 messages. Tickets are used once.
 *
 * Pairs
 *   P1  send's CAS of tail  ->  receive's load: the message
 *   P2  receive's exchange of head -> send's load: the place was read
 *   P3  a ticket is stored; fence; look  ->  the other's fence, behind P1, P2 or close,
 *       before it looks for a ticket. A send that finds the channel closed makes its
 *       fence behind the load that showed it, because the closing thread may have been
 *       stopped before its own fence. If the receiver's look did not see CLOSED, which
 *       that load saw, the receiver's fence is the first of the two, and the send sees
 *       the ticket.
 *
 * Source
 *   L. Lamport, "Specifying concurrent program modules", TOPLAS 1983, with the
 *   cached counters of J. Giacomoni et al., "FastForward", PPoPP 2008.
 */
#ifndef WEFT_CHAN_ONE_H
#define WEFT_CHAN_ONE_H

#include <errno.h>
#include <stdalign.h>

#include "chan/cell.h"

#define WEFTI_ONE_CLOSED	(UINT64_C(1) << 63)

struct wefti_one {
	char *message;
	uint32_t capacity;
	/* The sender's, except CLOSED and the receiver's ticket. */
	alignas(CACHE_LINE) _Atomic uint64_t tail;
	uint64_t seen_head;
	uint32_t tail_place;
	_Atomic uint64_t receiver_waits;
	/* The receiver's, except the sender's ticket. */
	alignas(CACHE_LINE) _Atomic uint64_t head;
	uint64_t seen_tail;
	uint32_t head_place;
	_Atomic uint64_t sender_waits;
};

static inline uint32_t wefti_one_after(const struct wefti_one *o,
				       uint32_t place)
{
	return place + 1 == o->capacity ? 0 : place + 1;
}

/*
 * Called by the sender. Returns 0, -EAGAIN or -EPIPE. Makes a full fence afterwards, so
 * that the caller can look whether the receiver waits.
 */
static ALWAYS_INLINE int wefti_one_push(struct wefti_one *o, const void *elem,
					size_t bytes)
{
	uint64_t t = load_relaxed(&o->tail);
	uint32_t place = o->tail_place;

	if (unlikely(t & WEFTI_ONE_CLOSED))
		return -EPIPE;
	if (unlikely(t - o->seen_head == o->capacity)) {
		o->seen_head = load_acquire(&o->head);	/* P2 */
		if (t - o->seen_head == o->capacity)
			return -EAGAIN;
	}
	wefti_message_copy(o->message + place * bytes, elem, bytes);
	o->tail_place = wefti_one_after(o, place);	/* I4 */
	if (unlikely(!cas_release(&o->tail, &t, t + 1))) {	/* P1 */
		o->tail_place = place;
		return -EPIPE;
	}
	fence_seq_cst_after_rmw();	/* P3 */
	return 0;
}

/* The same, called by the receiver. */
static ALWAYS_INLINE int wefti_one_pop(struct wefti_one *o, void *elem,
				       size_t bytes)
{
	uint64_t h = load_relaxed(&o->head), t;
	uint32_t place = o->head_place;

	if (unlikely(h == o->seen_tail)) {
		t = load_acquire(&o->tail);	/* P1 */
		o->seen_tail = t & ~WEFTI_ONE_CLOSED;
		if (h == o->seen_tail)
			return t & WEFTI_ONE_CLOSED ? -EPIPE : -EAGAIN;
	}
	if (likely(elem != NULL))
		wefti_message_copy(elem, o->message + place * bytes, bytes);
	o->head_place = wefti_one_after(o, place);	/* I4 */
	xchg_release(&o->head, h + 1);		/* P2 */
	fence_seq_cst_after_rmw();		/* P3 */
	return 0;
}

#endif
