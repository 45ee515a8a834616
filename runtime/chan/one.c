/* SPDX-License-Identifier: MIT */
/* chan/one.c - channels declared one-to-one; the argument is in one.h */
#include "chan/one.h"

#include "chan/chan.h"

static inline uint32_t place_after(const struct wefti_one *o, uint32_t place)
{
	return place + 1 == o->capacity ? 0 : place + 1;
}

/* Behind a fence: whoever waits tries again. */
static inline void wake(struct weft_chan *c, _Atomic uint64_t *waits,
			unsigned op)
{
	uint64_t ticket = load_acquire(waits);	/* P3 */
	struct wefti_thread *t;

	if (likely(!ticket))
		return;
	t = wefti_ticket_thread(ticket);
	if (wefti_wait_claim(t, ticket))
		wefti_alts_retry(t, wefti_alts_match(t->alts, c, op));
}

int wefti_one_send(struct weft_chan *c, const void *elem,
		   struct wefti_thread *self)
{
	struct wefti_one *o = &c->one;
	uint64_t t = load_relaxed(&o->tail);
	uint32_t place = o->tail_place;

	(void)self;
	if (unlikely(t & WEFTI_ONE_CLOSED))
		return -EPIPE;
	if (t - o->seen_head == o->capacity) {
		o->seen_head = load_acquire(&o->head);	/* P2 */
		if (t - o->seen_head == o->capacity)
			return -EAGAIN;
	}
	wefti_message_copy(o->message + (size_t)place * c->elem_bytes, elem,
			   c->elem_bytes);
	o->tail_place = place_after(o, place);	/* I4 */
	if (unlikely(!cas_release(&o->tail, &t, t + 1))) {	/* P1 */
		o->tail_place = place;
		return -EPIPE;
	}
	fence_seq_cst_after_rmw();	/* P3 */
	wake(c, &o->receiver_waits, WEFT_ALT_RECV);
	return 0;
}

int wefti_one_recv(struct weft_chan *c, void *elem, struct wefti_thread *self)
{
	struct wefti_one *o = &c->one;
	uint64_t h = load_relaxed(&o->head), t;
	uint32_t place = o->head_place;

	(void)self;
	if (h == o->seen_tail) {
		t = load_acquire(&o->tail);	/* P1 */
		o->seen_tail = t & ~WEFTI_ONE_CLOSED;
		if (h == o->seen_tail)
			return t & WEFTI_ONE_CLOSED ? -EPIPE : -EAGAIN;
	}
	if (elem)
		wefti_message_copy(elem, o->message +
				   (size_t)place * c->elem_bytes,
				   c->elem_bytes);
	o->head_place = place_after(o, place);	/* I4 */
	xchg_release(&o->head, h + 1);		/* P2 */
	fence_seq_cst_after_rmw();		/* P3 */
	wake(c, &o->sender_waits, WEFT_ALT_SEND);
	return 0;
}

int wefti_one_looks(struct weft_chan *c, unsigned op)
{
	uint64_t t = load_seq_cst(&c->one.tail);
	uint64_t n = (t & ~WEFTI_ONE_CLOSED) - load_seq_cst(&c->one.head);

	if (t & WEFTI_ONE_CLOSED)
		return 1;
	return op == WEFT_ALT_SEND ? n < c->one.capacity : n > 0;
}

static _Atomic uint64_t *waits_of(struct weft_chan *c, unsigned op)
{
	return op == WEFT_ALT_SEND ? &c->one.sender_waits :
				     &c->one.receiver_waits;
}

void wefti_one_add(struct weft_chan *c, unsigned op, uint64_t ticket)
{
	xchg_release(waits_of(c, op), ticket);	/* P3 */
	fence_seq_cst_after_rmw();		/* P3 */
}

void wefti_one_retire(struct weft_chan *c, unsigned op, uint64_t ticket)
{
	/* The channel may be another by now, with another's ticket. */
	cas_relaxed(waits_of(c, op), &ticket, (uint64_t)0);
}

int wefti_one_close(struct weft_chan *c)
{
	uint64_t was = fetch_or_release(&c->one.tail, WEFTI_ONE_CLOSED); /* P1 */

	if (was & WEFTI_ONE_CLOSED)
		return -EALREADY;
	fence_seq_cst_after_rmw();	/* P3 */
	wake(c, &c->one.receiver_waits, WEFT_ALT_RECV);
	wake(c, &c->one.sender_waits, WEFT_ALT_SEND);
	return 0;
}

int wefti_one_is_waited_for(struct weft_chan *c)
{
	uint64_t s = load_seq_cst(&c->one.sender_waits);
	uint64_t r = load_seq_cst(&c->one.receiver_waits);

	return (s && wefti_wait_is_open(wefti_ticket_thread(s), s)) ||
	       (r && wefti_wait_is_open(wefti_ticket_thread(r), r));
}
