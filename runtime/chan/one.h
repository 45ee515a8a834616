/* SPDX-License-Identifier: MIT */
/*
 * chan/one.h - the ring between one sender and one receiver, declared so
 *
 * Structure
 *   Messages lie in an array; tail counts those sent, head those received, and
 *   both only grow. tail's top bit is CLOSED. Each side keeps what it last saw
 *   of the other's counter, and looks again when that says full or empty.
 *   receiver_waits and sender_waits are tickets of the one who waits, or 0.
 *
 * States of a message's place
 *   FREE     its number is not in head .. tail; the sender's
 *   FULL     it is; the receiver's
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
 *   I2  tail is changed by the sender alone, but for one CLOSED; head by the
 *       receiver alone.
 *   I3  Who waits has stored its ticket before it looked last; who sends or
 *       receives looks for a ticket behind it: one of the two sees the other.
 *   I4  After its change of tail or head, a call touches nothing of the channel
 *       but the words of the tickets, which are that in all lives of the struct:
 *       the other may have ended this one.
 *   I5  Who finds it closed wakes whom the close has not woken yet: a close both,
 *       a send the receiver. A receive needs not: a sender that waits had a full
 *       buffer before it, and the receives that emptied it have woken it (I3).
 *
 * Linearization
 *   send: the CAS of tail. receive: the exchange of head. close: the RMW that
 *   sets CLOSED. Full, empty, closed: the load that shows it.
 *
 * Progress
 *   Wait-free, all but the wait itself: send has one CAS, which fails at most
 *   once, by close; to wake the other is one claim of its wait word, whose CAS
 *   fails at most twice (commit and a time-out), one CAS that takes its ticket
 *   out, and one finish. Close, and a send that finds it closed, have one RMW or
 *   fence, and for each that waits one resolve, with as many CAS. To make the
 *   thread ready may be a push into the queue of all VCPUs, which is lock-free.
 *   tests/stall/test_steps_one.c counts the steps of calls that do not wait, and
 *   of those that wake the other side.
 *
 *   A thread stopped in a send or a receive, between its change and the end of
 *   its wake, delays the other side if that waits: nobody else may call in its
 *   place. A close wakes that, unless it is claimed already. Stopped in a close,
 *   a thread delays the one that it has resolved and not yet made ready; by I5
 *   others wake the rest.
 *
 * ABA and reclamation
 *   Counters do not come back in 2^63 messages. Tickets are used once.
 *
 * Pairs
 *   P1  send's CAS of tail  ->  receive's load: the message
 *   P2  receive's exchange of head  ->  send's load: it was read
 *   P3  a ticket is stored; fence; look  ->  the other's fence, behind P1, P2 or
 *       close, before it looks for a ticket. A send that finds the channel closed
 *       has its fence behind the load that showed it, for the close may have been
 *       stopped before its own: if the receiver's look did not see CLOSED, which
 *       that load saw, its fence is the first of the two, and the ticket is seen.
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
	/* The sender's, but CLOSED, and the receiver's ticket. */
	alignas(CACHE_LINE) _Atomic uint64_t tail;
	uint64_t seen_head;
	uint32_t tail_place;
	_Atomic uint64_t receiver_waits;
	/* The receiver's, but the sender's ticket. */
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
 * By the sender. Returns 0, -EAGAIN, -EPIPE. Full fence behind it: the caller
 * looks whether the receiver waits.
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

/* By the receiver; the same. */
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
