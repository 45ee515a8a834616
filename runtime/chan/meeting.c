/* SPDX-License-Identifier: MIT */
/*
 * chan/meeting.c - channels of capacity 0: a send and a receive meet
 *
 * Structure
 *   Two lists of waiters (chan/waiters.c), senders and receivers. A thread that
 *   comes looks for a partner on the other side, claims it, copies the message
 *   between the two threads' memory, and ends the partner's wait. If there is
 *   none it puts itself in, and looks again.
 *
 * States of a thread here (its wait word, thread/wait.h)
 *   COMING   in no list; no wait has begun
 *   SHOWN    in the lists of its alternatives, ARMED: not all are looked at yet
 *   SETTLED  the same, PARKED
 *   CLAIMED  a partner copies
 *   MET      HANDED; the partner has done with it
 *
 *   COMING --add--> SHOWN --commit--> SETTLED
 *   SHOWN, SETTLED --claim, by one who is COMING--> CLAIMED --finish--> MET
 *   SHOWN --by itself, or sent back by one with a lower slot--> COMING
 *
 * Invariants
 *   I1  Only a thread that is COMING claims. So nobody is ever between two
 *       claims, its own and its partner's: one CAS, on the partner's word,
 *       makes a meeting.
 *   I2  Of two that are SHOWN or SETTLED and could meet, one has seen the other
 *       (P1), and one goes back to COMING, to claim: who sees a SETTLED one, or
 *       one with a lower slot, goes back itself; who sees one with a higher
 *       slot sends that one back, which then sees the lower.
 *   I3  After the finish, the claimer does not touch the channel; nor does the
 *       other behind its wait: either may end it.
 *
 * Linearization
 *   A meeting: the claim; if the channel was closed between the claimer's look
 *   at closed and the claim, just before the close. Both calls had begun then.
 *   -EAGAIN: the load that ended find. close: the exchange of closed.
 *
 * Progress
 *   Lock-free. A claim fails because the partner has met another, or its wait
 *   is over, or it went back to COMING. It goes back only for one that is
 *   SETTLED, or that has a lower slot, or sent by one with a lower slot; so the
 *   lowest of those that go back again and again does so only when others have
 *   met. No step needs another thread's help: a thread stopped when COMING or
 *   SHOWN is nothing, or a partner to be claimed; stopped between claim and
 *   finish it delays the one it has claimed, with whom it is exchanging the
 *   message. Stopped in closing: who comes finds it closed and wakes the rest.
 *
 * ABA and reclamation
 *   Of waiters.c. The alternatives of a thread are read only by who claimed it.
 *
 * Pairs
 *   P1  a thread is added; fence; it looks at the other side, and at closed.
 *       Another is added to the other side, or closes; fence; looks at this
 *       side. One of the two sees the other (waiters.c: P4).
 *   P2  close's exchange  ->  the load of closed: what was done before it
 *
 * Source
 *   Ours. The claim word for a set of alternatives is that of J. Reppy, C.
 *   Russo, Y. Xiao, "Parallel Concurrent ML", ICFP 2009, which claims its own
 *   word first and then the partner's, and retries with a delay when two do so
 *   to each other. That is what I1 and the order of slots avoid. Rejected, too:
 *   to change both words in one multi-word CAS that others help with, which
 *   costs three CAS in place of one, and the helper would have to wake for the
 *   helped.
 */
#include "chan/chan.h"
#include "sched/ready.h"

static int is_closed(struct weft_chan *c, struct wefti_thread *self)
{
	if (likely(!load_acquire(&c->closed)))	/* P2 */
		return 0;
	wefti_chan_wake_all(c, self);
	return 1;
}

int wefti_meeting_send(struct weft_chan *c, const void *elem,
		       struct wefti_thread *self)
{
	struct wefti_thread *t;
	struct weft_alt *a;

	if (is_closed(c, self))
		return -EPIPE;
	t = wefti_waiters_claim(&c->receivers, self);
	if (!t)
		return -EAGAIN;
	a = wefti_alts_match(t->alts, c, WEFT_ALT_RECV);
	if (likely(a->elem != NULL))
		wefti_message_copy(a->elem, elem, c->elem_bytes);
	wefti_alts_done(t, a, 0);
	return 0;
}

int wefti_meeting_recv(struct weft_chan *c, void *elem,
		       struct wefti_thread *self)
{
	struct wefti_thread *t;
	struct weft_alt *a;

	if (is_closed(c, self))
		return -EPIPE;
	t = wefti_waiters_claim(&c->senders, self);
	if (!t)
		return -EAGAIN;
	a = wefti_alts_match(t->alts, c, WEFT_ALT_SEND);
	if (likely(elem != NULL))
		wefti_message_copy(elem, a->elem, c->elem_bytes);
	wefti_alts_done(t, a, 0);
	return 0;
}

int wefti_meeting_looks(struct weft_chan *c, unsigned op,
			struct wefti_thread *self)
{
	struct wefti_waiters *other = op == WEFT_ALT_SEND ? &c->receivers :
							    &c->senders;
	uint64_t ticket;

	if (unlikely(load_acquire(&c->closed)))	/* P1, P2 */
		return 1;
	while (unlikely((ticket = wefti_waiters_find(other, self)) != 0)) {
		struct wefti_thread *t = wefti_ticket_thread(ticket);
		uint64_t w = load_relaxed(&t->wait);

		/* I2. If it is none of these any more, find passes over it. */
		if (!wefti_wait_is_open(t, ticket))
			continue;
		if ((w & WEFTI_WAIT_PHASE) == WEFTI_WAIT_PARKED ||
		    t->slot < self->slot)
			return 1;
		wefti_unpark(t, ticket, WEFTI_CAUSE_WOKEN);
	}
	return 0;
}
