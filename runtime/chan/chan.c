/* SPDX-License-Identifier: MIT */
/*
 * chan/chan.c - makes, closes and destroys channels
 *
 * Writers
 *   chan.closed  close_inside, make
 *   chan.receiver  make, wefti_chan_own, wefti_chan_own_first
 *   chan.sender  make, wefti_chan_own, wefti_chan_own_first
 */
#include "chan/chan.h"

#include <errno.h>
#include <stdlib.h>

#include "sched/summons.h"

static struct wefti_stock stock TABLE;

_Static_assert(sizeof(struct weft_chan) % CACHE_LINE == 0, "lines of its own");

/*
 * A late look of one.c for a ticket finds a ticket or 0, even where a buffer is by now.
 */
_Static_assert(offsetof(struct wefti_one, receiver_waits) >=
	       offsetof(struct wefti_buffer, tail) + sizeof(uint64_t) &&
	       offsetof(struct wefti_one, receiver_waits) <
	       offsetof(struct wefti_buffer, head) &&
	       offsetof(struct wefti_one, sender_waits) >=
	       offsetof(struct wefti_buffer, head) + sizeof(uint64_t),
	       "where a buffer has no field");

static _Atomic uint32_t *link_of(uint32_t index)
{
	return wefti_stock_link(&stock, sizeof(struct weft_chan), index + 1);
}

static void put_back(struct weft_chan *c, struct wefti_thread *self)
{
	wefti_stock_put(&stock, sizeof(*c), link_of, self->vcpu, c->number);
}

static int one_init(struct wefti_one *o, size_t elem_bytes, size_t capacity)
{
	o->message = malloc(elem_bytes * capacity + 1);
	if (!o->message)
		return -ENOMEM;
	o->capacity = (uint32_t)capacity;
	store_relaxed(&o->tail, 0);
	store_relaxed(&o->head, 0);
	o->seen_head = o->seen_tail = 0;
	o->tail_place = o->head_place = 0;
	store_relaxed(&o->sender_waits, 0);
	store_relaxed(&o->receiver_waits, 0);
	return 0;
}

static uint8_t way_of(const struct weft_chan *c)
{
	if (c->kind == WEFTI_CHAN_ONE)
		return c->elem_bytes == 8 ? WEFTI_CHAN_BY_ONE_WORD :
					    WEFTI_CHAN_BY_ONE;
	if (c->kind != WEFTI_CHAN_BUFFERED || c->cell_class != WEFTI_CELL_NONE)
		return WEFTI_CHAN_INSIDE;
	return c->elem_bytes == 8 ? WEFTI_CHAN_BY_WORD : WEFTI_CHAN_BY_WORDS;
}

static int make(struct weft_chan *c, size_t elem_bytes, size_t capacity,
		unsigned flags)
{
	c->elem_bytes = (uint32_t)elem_bytes;
	c->capacity = (uint32_t)capacity;
	c->is_owned = (flags & WEFT_CHAN_ONE_TO_ONE) != 0;
	store_relaxed(&c->closed, 0);
	store_relaxed(&c->sender, 0);
	store_relaxed(&c->receiver, 0);
	c->cell_class = (uint8_t)wefti_cell_class(elem_bytes);
	c->kind = !capacity ? WEFTI_CHAN_RENDEZVOUS :
		  c->is_owned ? WEFTI_CHAN_ONE : WEFTI_CHAN_BUFFERED;
	c->way = way_of(c);
	switch (c->kind) {
	case WEFTI_CHAN_ONE:
		return one_init(&c->one, elem_bytes, capacity);
	case WEFTI_CHAN_BUFFERED:
		return wefti_buffer_init(&c->buffer, (uint32_t)capacity);
	default:
		return 0;
	}
}

static int create_inside(struct weft_chan **chan, size_t elem_bytes,
		size_t capacity, unsigned flags, struct wefti_thread *self)
{
	uint32_t number = wefti_stock_get(&stock, sizeof(struct weft_chan),
					  link_of, self->vcpu);
	struct weft_chan *c;
	int error;

	if (!number)
		return -ENOMEM;
	c = wefti_stock_at(&stock, sizeof(*c), number);
	c->number = number;
	error = make(c, elem_bytes, capacity, flags);
	if (error)
		put_back(c, self);
	else
		*chan = c;
	return error;
}

int weft_chan_create(struct weft_chan **chan, size_t elem_bytes,
		     size_t capacity, unsigned flags)
{
	struct wefti_thread *self;
	int error;

	if (elem_bytes > WEFT_CHAN_MESSAGE_MAX ||
	    capacity > WEFT_CHAN_CAPACITY_MAX ||
	    (flags & ~WEFT_CHAN_ONE_TO_ONE))
		return -EINVAL;
	if (elem_bytes && capacity > SIZE_MAX / 2 / elem_bytes)
		return -ENOMEM;
	self = wefti_enter();
	error = create_inside(chan, elem_bytes, capacity, flags, self);
	wefti_leave(self);
	return error;
}

/* Returns the ticket of a waiting thread, or 0. */
static uint64_t find_any(struct weft_chan *c, struct wefti_thread *self)
{
	uint64_t s = wefti_waiters_find(&c->senders, self, self->slot);

	return s ? s : wefti_waiters_find(&c->receivers, self, self->slot);
}

/*
 * Stops when the struct's life ends: in the next life threads would come back for ever.
 */
COLD void wefti_chan_wake_all(struct weft_chan *c, uint32_t life,
			      struct wefti_thread *self)
{
	uint64_t ticket;

	while (wefti_waiters_life(&c->receivers) == life &&
	       (ticket = find_any(c, self)))
		wefti_summon(ticket);
}

COLD void wefti_chan_found_closed(struct weft_chan *c,
				  struct wefti_thread *self)
{
	fence_seq_cst();	/* of waiters.c: P4 */
	wefti_chan_wake_all(c, wefti_waiters_life(&c->receivers), self);
}

static int close_inside(struct weft_chan *c, struct wefti_thread *self)
{
	/* Read before the close: after it another thread may end the channel. */
	const uint32_t life = wefti_waiters_life(&c->receivers);
	int error = 0;

	switch (c->kind) {
	case WEFTI_CHAN_ONE:
		return wefti_one_close(c);
	case WEFTI_CHAN_BUFFERED:
		error = wefti_buffer_close(&c->buffer);
		break;
	default:
		/* of rendezvous.c: P2 */
		if (xchg_seq_cst(&c->closed, 1))
			error = -EALREADY;
		fence_seq_cst_after_rmw();	/* of rendezvous.c: P1 */
	}
	wefti_chan_wake_all(c, life, self);
	return error;
}

int weft_chan_close(struct weft_chan *c)
{
	struct wefti_thread *self = wefti_enter();
	int error = close_inside(c, self);

	wefti_leave(self);
	return error;
}

static int is_waited_for(struct weft_chan *c, struct wefti_thread *self)
{
	return find_any(c, self) ||
	       (c->kind == WEFTI_CHAN_ONE && wefti_one_is_waited_for(c));
}

/* Frees the messages that no thread received: their cells can be used again. */
static void drop_messages(struct weft_chan *c, struct wefti_thread *self)
{
	uint64_t word;
	int more;

	while (!wefti_buffer_pop(&c->buffer, &word, &more))
		wefti_message_drop(c->cell_class, self->vcpu, word);
}

static int destroy_inside(struct weft_chan *c, struct wefti_thread *self)
{
	if (is_waited_for(c, self))
		return -EBUSY;
	wefti_waiters_end(&c->senders, self);
	wefti_waiters_end(&c->receivers, self);
	if (c->kind == WEFTI_CHAN_BUFFERED) {
		drop_messages(c, self);
		wefti_buffer_fini(&c->buffer);
	} else if (c->kind == WEFTI_CHAN_ONE) {
		free(c->one.message);
	}
	put_back(c, self);
	return 0;
}

int weft_chan_destroy(struct weft_chan *c)
{
	struct wefti_thread *self = wefti_enter();
	int error = destroy_inside(c, self);

	wefti_leave(self);
	return error;
}

int wefti_chan_own_first(_Atomic uint64_t *owner, uint64_t id)
{
	uint64_t none = 0;

	return cas_relaxed(owner, &none, id) || none == id ? 0 : -EPERM;
}

size_t weft_chan_length(struct weft_chan *c)
{
	uint64_t head;

	switch (c->kind) {
	case WEFTI_CHAN_BUFFERED:
		return wefti_buffer_count_hint(&c->buffer);
	case WEFTI_CHAN_ONE:
		head = load_seq_cst(&c->one.head);
		return (load_seq_cst(&c->one.tail) & ~WEFTI_ONE_CLOSED) - head;
	default:
		return 0;
	}
}

size_t weft_chan_capacity(struct weft_chan *c)
{
	return c->capacity;
}

size_t weft_chan_elem_bytes(struct weft_chan *c)
{
	return c->elem_bytes;
}

int weft_chan_is_closed(struct weft_chan *c)
{
	switch (c->kind) {
	case WEFTI_CHAN_BUFFERED:
		return wefti_buffer_is_closed(&c->buffer);
	case WEFTI_CHAN_ONE:
		return load_seq_cst(&c->one.tail) >> 63 != 0;
	default:
		return load_seq_cst(&c->closed) != 0;
	}
}
