/* SPDX-License-Identifier: MIT */
/*
 * chan/meeting.c - channels of capacity 0: a send and a receive meet
 *
 * Structure
 *   Two lists of waiters (sync/waiters.c), senders and receivers. A thread that
 *   comes looks for a partner on the other side, claims it, copies the message
 *   between the two threads' memory, and ends the partner's wait. If there is
 *   none it puts itself in, and looks again.
 *
 * States of a thread here (its wait word, thread/wait.h)
 *   COMING   in no list; no wait has begun
 *   SHOWN    in a list, or more; not all are looked at yet
 *   SETTLED  all are
 *   CLAIMED  a partner copies
 *   MET      HANDED; the partner has done with it
 *
 *   COMING --add--> SHOWN --no partner was seen--> SETTLED
 *   SHOWN, SETTLED --claim, by one who is COMING--> CLAIMED --finish--> MET
 *   SHOWN --by itself--> COMING
 *   SHOWN, SETTLED --sent back by one with a lower slot--> COMING
 *
 *   A single call that finds nobody else waiting is SHOWN when it has left its
 *   stack, PARKED: its post-switch action adds it and looks. That saves the
 *   commit, an RMW. One with alternatives or a deadline, of a foreign thread, or
 *   behind others, is ARMED, looks itself, and commits when it is SETTLED.
 *
 * Invariants
 *   I1  Only a thread that is COMING claims. So nobody is ever between two
 *       claims, its own and its partner's: one CAS, on the partner's word,
 *       makes a meeting.
 *   I2  Of two that are SHOWN or SETTLED and could meet, one has seen the other
 *       (P1), and the one with the higher slot goes back to COMING, to claim: by
 *       itself if it saw the other, else it is sent back, and then sees the
 *       lower.
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
 *   is over, or it went back to COMING. It goes back only for one that waits
 *   and has a lower slot; so the lowest of those that go back again and again
 *   does so only when others have met, or their waits are over. No step needs
 *   another thread's help: a thread stopped when COMING or SHOWN is nothing, or
 *   a partner to be claimed; stopped between claim and finish it delays the one
 *   it has claimed, with whom it is exchanging the message. Stopped in closing:
 *   who comes finds it closed and wakes the rest. Behind the CAS or the store that
 *   ends another's wait, in a finish, in closing or in sending it back, it delays
 *   that one until it has made it ready, as everybody who unparks does.
 *
 * ABA and reclamation
 *   Of waiters.c. The alternatives of a thread are read only by who claimed it.
 *
 * Pairs
 *   P1  a thread is added; fence; it looks at the other side, and at closed.
 *       Another is added to the other side, closes, or finds it closed; fence;
 *       looks at this side. One of the two sees the other (waiters.c: P4).
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
#include "sched/park_by.h"
#include "sched/ready.h"
#include "sched/summons.h"

static inline int is_closed(struct weft_chan *c, struct wefti_thread *self)
{
	if (likely(!load_acquire(&c->closed)))	/* P2 */
		return 0;
	wefti_chan_found_closed(c, self);
	return 1;
}

/*
 * Soon after its claim a thread runs. Where there are many, its frames (from the
 * second line of them on, where its alternatives are) and its TLS are far from
 * the CPU, on two pages: they are fetched beside each other. Of a foreign thread
 * nothing useful is, and nothing comes of that.
 */
static ALWAYS_INLINE void fetch(const struct wefti_thread *t)
{
	const char *frame = t->ctx.sp;

	__builtin_prefetch(frame + CACHE_LINE);
	__builtin_prefetch(frame + 2 * CACHE_LINE);
	if (t->tp)
		__builtin_prefetch((const char *)t->tp + wefti_self_offset());
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
	fetch(t);
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
	fetch(t);
	a = wefti_alts_match(t->alts, c, WEFT_ALT_SEND);
	if (likely(elem != NULL))
		wefti_message_copy(elem, a->elem, c->elem_bytes);
	wefti_alts_done(t, a, 0);
	return 0;
}

int wefti_meeting_looks(struct weft_chan *c, unsigned op,
			struct wefti_thread *self, uint64_t mine)
{
	struct wefti_waiters *other = op == WEFT_ALT_SEND ? &c->receivers :
							    &c->senders;
	uint32_t slot = (uint32_t)(mine >> WEFTI_TICKET_SEQ_BITS);
	uint64_t ticket;

	if (unlikely(load_acquire(&c->closed)))	/* P1, P2 */
		return 1;
	while (unlikely((ticket = wefti_waiters_find(other, self, slot)))) {
		/* I2 */
		if (ticket >> WEFTI_TICKET_SEQ_BITS < slot)
			return 1;
		wefti_summon(ticket);
	}
	return 0;
}

/* Behind a fence: would wefti_meeting_looks() see nothing? Needs no self. */
static inline int is_quiet(struct weft_chan *c, unsigned op)
{
	return likely(!load_relaxed(&c->closed)) &&
	       likely(wefti_waiters_is_empty(op == WEFT_ALT_SEND ?
					     &c->receivers : &c->senders));
}

/*
 * COMING -> SHOWN, off the stack of t. When it is added t is anybody's: what is
 * needed of it afterwards is in its ticket, or type-stable as the channel is.
 */
static void post_wait(struct wefti_thread *t)
{
	const struct wefti_alts *alts = t->alts;
	struct weft_chan *c = alts->alt->chan;
	unsigned op = alts->alt->op;
	struct wefti_waiters *side = wefti_chan_side(c, op);
	uint64_t seq = wefti_wait_begin_parked(t, alts->flags);
	uint64_t ticket = wefti_ticket(t, seq);

	if (unlikely(!wefti_waiters_add_lone(side, alts->lone, ticket)) ||
	    (unlikely(!is_quiet(c, op)) &&
	     wefti_meeting_looks(c, op, wefti_self(), ticket)))
		wefti_unpark(t, ticket, WEFTI_CAUSE_WOKEN);
	else
		wefti_park_look_for_cancel(t, ticket);
}

int wefti_meeting_wait(struct weft_chan *c, unsigned op, void *elem,
		       struct wefti_thread *self)
{
	struct wefti_waiters *side = wefti_chan_side(c, op);
	struct weft_alt a;
	struct wefti_alts alts;

	/* What those who claim it read, and post_wait(). */
	a.op = op;
	a.chan = c;
	a.elem = elem;
	alts.alt = &a;
	alts.count = 1;
	alts.flags = wefti_cancel_flag(self);
	while (likely(wefti_waiters_takes_lone(side, &alts.lone))) {
		enum wefti_cause cause;
		int error;

		self->alts = &alts;
		cause = wefti_park_by(self, op == WEFT_ALT_SEND ?
				      WEFTI_WHY_SEND : WEFTI_WHY_RECV, c,
				      post_wait);
		if (likely(cause == WEFTI_CAUSE_HANDED))
			return alts.error;
		if (cause == WEFTI_CAUSE_CANCELLED)
			return -ECANCELED;
		error = op == WEFT_ALT_SEND ?
			wefti_meeting_send(c, elem, self) :
			wefti_meeting_recv(c, elem, self);
		if (error != -EAGAIN)
			return error;
	}
	return -EAGAIN;
}
