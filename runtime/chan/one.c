/* SPDX-License-Identifier: MIT */
/* chan/one.c - channels declared one-to-one; one.h has the argument */
#include "chan/one.h"

#include "chan/chan.h"
#include "sched/summons.h"

static _Atomic uint64_t *waits_of(struct weft_chan *c, unsigned op)
{
	return op == WEFT_ALT_SEND ? &c->one.sender_waits :
				     &c->one.receiver_waits;
}

/* Called behind a fence: the waiting thread, if any, tries again. */
static inline void wake(struct weft_chan *c, _Atomic uint64_t *waits,
			unsigned op)
{
	uint64_t ticket = load_acquire(waits);	/* P3 */
	struct wefti_thread *t;
	int is_mine;

	if (likely(!ticket))
		return;
	t = wefti_ticket_thread(ticket);
	is_mine = wefti_wait_claim(t, ticket);
	/* Not left to its thread: all messages until that runs would look at it. */
	wefti_one_retire(c, op, ticket);
	if (is_mine)
		wefti_alts_retry(t, wefti_alts_match(t->alts, c, op));
}

/*
 * Called behind a fence, and a load or an RMW that showed the channel closed: the
 * waiting thread looks again. It is not claimed, so that no other thread holds it:
 * others may summon it, too.
 */
static COLD void wake_at_end(_Atomic uint64_t *waits)
{
	uint64_t ticket = load_acquire(waits);	/* P3 */

	if (ticket)
		wefti_summon(ticket);
}

static COLD void found_closed(struct weft_chan *c)
{
	fence_seq_cst();	/* P3 */
	wake_at_end(&c->one.receiver_waits);	/* I5 */
}

int wefti_one_send(struct weft_chan *c, const void *elem)
{
	int error = wefti_one_push(&c->one, elem, c->elem_bytes);

	if (!error)
		wake(c, &c->one.receiver_waits, WEFT_ALT_RECV);
	else if (error == -EPIPE)
		found_closed(c);
	return error;
}

int wefti_one_recv(struct weft_chan *c, void *elem)
{
	int error = wefti_one_pop(&c->one, elem, c->elem_bytes);

	if (!error)
		wake(c, &c->one.sender_waits, WEFT_ALT_SEND);
	return error;
}

COLD int wefti_one_wake_outside(struct weft_chan *c, unsigned op)
{
	struct wefti_thread *self = wefti_enter();

	wake(c, waits_of(c, op), op);
	wefti_leave(self);
	return 0;
}

int wefti_one_may_go_on(struct weft_chan *c, unsigned op)
{
	uint64_t t = load_seq_cst(&c->one.tail);
	uint64_t n = (t & ~WEFTI_ONE_CLOSED) - load_seq_cst(&c->one.head);

	if (t & WEFTI_ONE_CLOSED)
		return 1;
	return op == WEFT_ALT_SEND ? n < c->one.capacity : n > 0;
}

void wefti_one_add(struct weft_chan *c, unsigned op, uint64_t ticket)
{
	xchg_release(waits_of(c, op), ticket);	/* P3 */
	fence_seq_cst_after_rmw();		/* P3 */
}

void wefti_one_retire(struct weft_chan *c, unsigned op, uint64_t ticket)
{
	/* The channel may be another by now, with another thread's ticket. */
	cas_relaxed(waits_of(c, op), &ticket, (uint64_t)0);
}

int wefti_one_close(struct weft_chan *c)
{
	uint64_t was = fetch_or_release(&c->one.tail, WEFTI_ONE_CLOSED); /* P1 */

	fence_seq_cst_after_rmw();	/* P3 */
	wake_at_end(&c->one.receiver_waits);
	wake_at_end(&c->one.sender_waits);
	return was & WEFTI_ONE_CLOSED ? -EALREADY : 0;
}

int wefti_one_is_waited_for(struct weft_chan *c)
{
	uint64_t s = load_seq_cst(&c->one.sender_waits);
	uint64_t r = load_seq_cst(&c->one.receiver_waits);

	return (s && wefti_wait_is_open(wefti_ticket_thread(s), s)) ||
	       (r && wefti_wait_is_open(wefti_ticket_thread(r), r));
}
