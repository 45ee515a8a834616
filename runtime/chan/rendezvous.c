/* SPDX-License-Identifier: MIT */
/*
 * chan/rendezvous.c - channels of capacity 0: a send and a receive meet
 *
 * Structure
 *   Two lists of waiters (sync/waiters.c), senders and receivers. An arriving thread
 *   looks for a partner on the other side, claims it, copies the message between the
 *   memory of the two threads, and ends the partner's wait. If there is no partner it
 *   adds itself to its list and looks again.
 *
 * States of a thread here (its wait word, thread/wait.h)
 *   COMING   in no list; its wait has not begun
 *   SHOWN    in one or more lists; it has not looked at all of them yet
 *   SETTLED  it has looked at all
 *   CLAIMED  a partner copies the message
 *   MET      HANDED; the partner has finished
 *
 *   COMING --add--> SHOWN --saw no partner--> SETTLED
 *   SHOWN, SETTLED --claim, by a COMING thread--> CLAIMED --finish--> MET
 *   SHOWN --by itself--> COMING
 *   SHOWN, SETTLED --sent back by a thread with a lower slot--> COMING
 *
 *   A single call that finds no other thread waiting leaves its stack first and is then
 *   SHOWN, already PARKED: its post-switch action adds it and looks. That saves the
 *   commit, an RMW. A call behind other waiters (wait_behind), with alternatives or a
 *   deadline, or of a foreign thread is ARMED, looks itself, and commits when it is
 *   SETTLED.
 *
 * Invariants
 *   I1  Only a COMING thread claims. So no thread ever has two claims to win, its own
 *       and its partner's: one CAS, on the partner's word, makes a rendezvous.
 *   I2  If two threads are SHOWN or SETTLED and could meet, one has seen the other
 *       (P1), and the one with the higher slot goes back to COMING, to claim. It does
 *       so by itself if it saw the other. Otherwise the other sends it back, and it
 *       then sees the lower one.
 *   I3  After the finish, the claimer does not touch the channel; nor does its partner
 *       after its wait. Either may end the channel.
 *
 * Linearization
 *   A rendezvous: at the claim; if the channel was closed between the claimer's look at
 *   closed and the claim, just before the close. Both calls had begun then. -EAGAIN: at
 *   the load that ended find. close: at the exchange of closed.
 *
 * Progress
 *   Lock-free. A claim fails because the partner has met another thread, or its wait is
 *   over, or it went back to COMING. It goes back only for a waiting thread with a
 *   lower slot. So the thread with the lowest slot among those that go back again and
 *   again does so only when others have met, or their waits are over.
 *   No step needs another thread's help. A thread that is stopped when COMING does not
 *   exist for the others; when SHOWN it is a partner to be claimed. Stopped between
 *   claim and finish, it delays the thread that it has claimed, with which it exchanges
 *   the message. Stopped in a close: the next thread finds the channel closed and wakes
 *   the rest. Stopped after the CAS or store that ends another's wait (in a finish, in
 *   a close or in sending it back), it delays that thread until it has made it ready.
 *   Any unpark has this gap.
 *
 * ABA and reclamation
 *   See waiters.c. The alternatives of a thread are read only by the thread that
 *   claimed it.
 *
 * Pairs
 *   P1  a thread is added; fence; it looks at the other side, and at closed.
 *       Another is added to the other side, closes, or finds it closed; fence;
 *       looks at this side. One of the two sees the other (waiters.c: P4).
 *   P2  close's exchange  ->  the load of closed: what was done before it
 *
 * Source
 *   Ours. The claim word for a set of alternatives is from J. Reppy, C. Russo, Y. Xiao,
 *   "Parallel Concurrent ML", ICFP 2009. There a thread claims its own word first and
 *   then the partner's, and retries with a delay when two threads do so to each other;
 *   I1 and the order of slots avoid that. Also rejected: to change both words in one
 *   multi-word CAS that others help with. It costs three CAS instead of one, and a
 *   helper would have to do the wake-up for the helped thread.
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
 * A thread runs soon after its claim. Where there are many threads, its frames (its
 * alternatives are on the second line and those that follow) and its TLS are far from
 * the CPU, on two pages. So both are prefetched at the same time. For a foreign thread
 * this is useless and harmless.
 */
static ALWAYS_INLINE void fetch(const struct wefti_thread *t)
{
	const char *frame = t->ctx.sp;

	__builtin_prefetch(frame + CACHE_LINE);
	__builtin_prefetch(frame + 2 * CACHE_LINE);
	if (t->tp)
		__builtin_prefetch((const char *)t->tp + wefti_self_offset());
}

int wefti_rendezvous_send(struct weft_chan *c, const void *elem,
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

int wefti_rendezvous_recv(struct weft_chan *c, void *elem,
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

int wefti_rendezvous_may_go_on(struct weft_chan *c, unsigned op,
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

/* Called behind a fence: would wefti_rendezvous_may_go_on() see nothing? Needs no self. */
static inline int is_quiet(struct weft_chan *c, unsigned op)
{
	return likely(!load_relaxed(&c->closed)) &&
	       likely(wefti_waiters_is_empty(op == WEFT_ALT_SEND ?
					     &c->receivers : &c->senders));
}

/*
 * COMING -> SHOWN, off the stack of t. Once the wait has begun, a cancellation may end it,
 * and once t is added, other threads may claim it. What is needed of t's stack is read
 * before that. All else is in its ticket, or type-stable as the channel is.
 */
static void post_wait(struct wefti_thread *t)
{
	const struct wefti_alts *alts = t->alts;
	struct weft_chan *c = alts->alt->chan;
	unsigned op = alts->alt->op;
	const uint64_t lone = alts->lone;
	struct wefti_waiters *side = wefti_chan_side(c, op);
	uint64_t seq = wefti_wait_begin_parked(t, alts->flags);
	uint64_t ticket = wefti_ticket(t, seq);

	if (unlikely(!wefti_waiters_add_lone(side, lone, ticket)) ||
	    (unlikely(!is_quiet(c, op)) &&
	     wefti_rendezvous_may_go_on(c, op, wefti_self(), ticket)))
		wefti_unpark(t, ticket, WEFTI_CAUSE_WOKEN);
	else
		wefti_park_end_if_cancelled(t, ticket);
}

/*
 * Others wait before it: as chan_wait.c does it, without its loops over alternatives.
 * Returns the cause, or -ENOMEM.
 */
static NOINLINE int wait_behind(struct weft_chan *c, struct wefti_alts *alts,
				enum wefti_why why, struct wefti_thread *self)
{
	const unsigned op = alts->alt->op;
	struct wefti_waiters *side = wefti_chan_side(c, op);
	uint64_t ticket, place[2];
	int error, cause;

	alts->claimed = alts->count;
	ticket = wefti_ticket(self, wefti_park_begin(self, alts->flags, why, c));
	error = wefti_waiters_add(side, ticket, self, place);
	if (unlikely(error) ||
	    unlikely(wefti_rendezvous_may_go_on(c, op, self, ticket)))
		(void)wefti_wait_resolve(self, ticket, WEFTI_CAUSE_WOKEN);
	cause = (int)wefti_park(self, WEFT_FOREVER);
	/* Else the claiming thread has taken it out. */
	if (unlikely(alts->claimed == alts->count) && place[0])
		wefti_waiters_retire(side, self, place);
	return unlikely(error) && cause == WEFTI_CAUSE_WOKEN ? error : cause;
}

int wefti_rendezvous_wait(struct weft_chan *c, unsigned op, void *elem,
			  struct wefti_thread *self)
{
	const enum wefti_why why = op == WEFT_ALT_SEND ? WEFTI_WHY_SEND :
							 WEFTI_WHY_RECV;
	struct wefti_waiters *side = wefti_chan_side(c, op);
	struct weft_alt a;
	struct wefti_alts alts;
	int cause, error;

	/* Read by threads that claim it, and by post_wait(). */
	a.op = op;
	a.chan = c;
	a.elem = elem;
	alts.alt = &a;
	alts.count = 1;
	alts.flags = wefti_cancel_flag(self);
	do {
		self->alts = &alts;
		cause = likely(wefti_waiters_takes_lone(side, &alts.lone)) ?
			(int)wefti_park_by(self, why, c, post_wait) :
			wait_behind(c, &alts, why, self);
		if (likely(cause == WEFTI_CAUSE_HANDED))
			return alts.error;
		if (cause == WEFTI_CAUSE_CANCELLED)
			return -ECANCELED;
		if (unlikely(cause < 0))
			return cause;
		error = op == WEFT_ALT_SEND ?
			wefti_rendezvous_send(c, elem, self) :
			wefti_rendezvous_recv(c, elem, self);
	} while (error == -EAGAIN);
	return error;
}
