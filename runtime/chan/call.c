/* SPDX-License-Identifier: MIT */
/* chan/call.c - send and receive */
#include <errno.h>

#include "chan/chan.h"

static NOINLINE int wait_in_line(struct weft_chan *c, unsigned op, void *elem,
				 int64_t deadline, struct wefti_thread *self)
{
	struct weft_alt alt = { .op = op, .chan = c, .elem = elem };
	struct wefti_alts alts = { .alt = &alt, .count = 1, .self = self };
	int error = wefti_alts_wait(&alts, deadline, op == WEFT_ALT_SEND ?
				    WEFTI_WHY_SEND : WEFTI_WHY_RECV, c);

	return error ? error : alts.error;
}

/* A single send or receive that has to wait. */
static inline int wait_for(struct weft_chan *c, unsigned op, void *elem,
			   int64_t deadline, struct wefti_thread *self)
{
	int error = -EAGAIN;

	if (likely(c->kind == WEFTI_CHAN_MEETING) &&
	    likely(deadline == WEFT_FOREVER) &&
	    likely(self->kind != WEFTI_KIND_FOREIGN))
		error = wefti_meeting_wait(c, op, elem, self);
	return likely(error != -EAGAIN) ? error :
	       wait_in_line(c, op, elem, deadline, self);
}

static NOINLINE int send_slow(struct weft_chan *c, const void *elem,
			      int64_t deadline)
{
	struct wefti_thread *self = wefti_enter();
	int error = 0;

	if (unlikely(c->is_owned))
		error = wefti_chan_own(c, WEFT_ALT_SEND, self);
	if (unlikely(wefti_is_cancelled(self)))
		error = -ECANCELED;
	if (likely(!error))
		error = wefti_chan_send(c, elem, self);
	if (error == -EAGAIN && deadline != WEFT_NO_WAIT)
		error = wait_for(c, WEFT_ALT_SEND, (void *)(uintptr_t)elem,
				 deadline, self);
	wefti_leave(self);
	return error;
}

static NOINLINE int recv_slow(struct weft_chan *c, void *elem,
			      int64_t deadline)
{
	struct wefti_thread *self = wefti_enter();
	int error = 0;

	if (unlikely(c->is_owned))
		error = wefti_chan_own(c, WEFT_ALT_RECV, self);
	if (unlikely(wefti_is_cancelled(self)))
		error = -ECANCELED;
	if (likely(!error))
		error = wefti_chan_recv(c, elem, self);
	if (error == -EAGAIN && deadline != WEFT_NO_WAIT)
		error = wait_for(c, WEFT_ALT_RECV, elem, deadline, self);
	wefti_leave(self);
	return error;
}

/* A thread that goes on; one that is asked to end, or new here, has to enter. */
static inline int goes_on(const struct wefti_thread *self)
{
	return likely(self) && likely(!load_relaxed(&self->cancel));
}

static inline int is_owner(_Atomic uint64_t *owner)
{
	const struct wefti_thread *self = wefti_self();

	return goes_on(self) && load_relaxed(owner) == wefti_thread_id(self);
}

static inline int is_of_words(const struct weft_chan *c)
{
	return c->cell_class == WEFTI_CELL_NONE && goes_on(wefti_self());
}

/*
 * The usual cases of the declared owner, and of words, need no VCPU. Each in a
 * function of its own, so that a rendezvous has nothing to save for them.
 */
static NOINLINE int send_one(struct weft_chan *c, const void *elem,
			     int64_t deadline)
{
	if (likely(is_owner(&c->sender)) &&
	    likely(!wefti_one_push(&c->one, elem, c->elem_bytes))) {
		if (unlikely(load_relaxed(&c->one.receiver_waits)))
			wefti_one_wake_outside(c, WEFT_ALT_RECV);
		return 0;
	}
	return send_slow(c, elem, deadline);
}

static NOINLINE int recv_one(struct weft_chan *c, void *elem, int64_t deadline)
{
	if (likely(is_owner(&c->receiver)) &&
	    likely(!wefti_one_pop(&c->one, elem, c->elem_bytes))) {
		if (unlikely(load_relaxed(&c->one.sender_waits)))
			wefti_one_wake_outside(c, WEFT_ALT_SEND);
		return 0;
	}
	return recv_slow(c, elem, deadline);
}

static NOINLINE int send_buffered(struct weft_chan *c, const void *elem,
				  int64_t deadline)
{
	if (likely(is_of_words(c)) &&
	    likely(!wefti_buffered_send_outside(c, elem)))
		return 0;
	return send_slow(c, elem, deadline);
}

static NOINLINE int recv_buffered(struct weft_chan *c, void *elem,
				  int64_t deadline)
{
	if (likely(is_of_words(c)) &&
	    likely(!wefti_buffered_recv_outside(c, elem)))
		return 0;
	return recv_slow(c, elem, deadline);
}

int weft_chan_send(struct weft_chan *c, const void *elem, int64_t deadline)
{
	switch (c->kind) {
	case WEFTI_CHAN_ONE:
		return send_one(c, elem, deadline);
	case WEFTI_CHAN_BUFFERED:
		return send_buffered(c, elem, deadline);
	default:
		return send_slow(c, elem, deadline);
	}
}

int weft_chan_recv(struct weft_chan *c, void *elem, int64_t deadline)
{
	switch (c->kind) {
	case WEFTI_CHAN_ONE:
		return recv_one(c, elem, deadline);
	case WEFTI_CHAN_BUFFERED:
		return recv_buffered(c, elem, deadline);
	default:
		return recv_slow(c, elem, deadline);
	}
}
