/* SPDX-License-Identifier: MIT */
/* chan/call.c - send and receive */
#include <errno.h>

#include "chan/chan.h"

#define WORD	8u	/* bytes of the usual message */

NOINLINE int wefti_chan_wait_in_line(struct weft_chan *c, unsigned op, void *elem,
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

	if (likely(deadline == WEFT_FOREVER) &&
	    likely(self->kind != WEFTI_KIND_FOREIGN)) {
		if (likely(c->kind == WEFTI_CHAN_RENDEZVOUS))
			error = wefti_rendezvous_wait(c, op, elem, self);
		else if (c->kind == WEFTI_CHAN_BUFFERED)
			error = wefti_buffered_wait(c, op, elem, self);
	}
	return likely(error != -EAGAIN) ? error :
	       wefti_chan_wait_in_line(c, op, elem, deadline, self);
}

/* Through the runtime. Each of the two operations has its own copy. */
static ALWAYS_INLINE int enter_and_do(struct weft_chan *c, unsigned op, void *elem,
				      int64_t deadline)
{
	struct wefti_thread *self = wefti_enter();
	int error = 0;

	if (unlikely(wefti_is_cancelled(self)))
		error = -ECANCELED;
	else if (unlikely(c->is_owned))
		error = wefti_chan_own(c, op, self);
	if (likely(!error))
		error = op == WEFT_ALT_SEND ? wefti_chan_send(c, elem, self) :
					      wefti_chan_recv(c, elem, self);
	if (error == -EAGAIN && deadline != WEFT_NO_WAIT)
		error = wait_for(c, op, elem, deadline, self);
	wefti_leave(self);
	return error;
}

NOINLINE int wefti_chan_send_inside(struct weft_chan *c, const void *elem,
				    int64_t deadline)
{
	return enter_and_do(c, WEFT_ALT_SEND, (void *)(uintptr_t)elem, deadline);
}

NOINLINE int wefti_chan_recv_inside(struct weft_chan *c, void *elem, int64_t deadline)
{
	return enter_and_do(c, WEFT_ALT_RECV, elem, deadline);
}

/*
 * May the thread go on without entering the runtime? Not if it is asked to end, or new.
 */
static inline int goes_on(const struct wefti_thread *self)
{
	return likely(self) && likely(!load_relaxed(&self->cancel));
}

static inline int is_owner(_Atomic uint64_t *owner)
{
	const struct wefti_thread *self = wefti_self();

	return goes_on(self) && load_relaxed(owner) == wefti_thread_id(self);
}

/*
 * The usual cases, for a declared owner and for words, need no VCPU. So that they need
 * no stack frame either, all rarer cases are tail calls. Each kind of channel has its
 * own function, so that a rendezvous pays for none of this. Each function exists twice:
 * for messages of WORD bytes, and of any size.
 *
 * Rejected: a table of these functions by kind and size. It saves 30 lines, for an
 * indirect jump in each call where two predicted branches stand.
 */
static ALWAYS_INLINE int send_one_of(struct weft_chan *c, const void *elem,
				     int64_t deadline, size_t bytes)
{
	if (unlikely(!is_owner(&c->sender)) ||
	    unlikely(wefti_one_push(&c->one, elem, bytes)))
		return wefti_chan_send_inside(c, elem, deadline);
	if (unlikely(load_relaxed(&c->one.receiver_waits)))
		return wefti_one_wake_outside(c, WEFT_ALT_RECV);
	return 0;
}

static NOINLINE int send_one_any(struct weft_chan *c, const void *elem,
				 int64_t deadline)
{
	return send_one_of(c, elem, deadline, c->elem_bytes);
}

static NOINLINE int send_one_word(struct weft_chan *c, const void *elem,
				  int64_t deadline)
{
	return send_one_of(c, elem, deadline, WORD);
}

static ALWAYS_INLINE int recv_one_of(struct weft_chan *c, void *elem,
				     int64_t deadline, size_t bytes)
{
	if (unlikely(!is_owner(&c->receiver)) ||
	    unlikely(wefti_one_pop(&c->one, elem, bytes)))
		return wefti_chan_recv_inside(c, elem, deadline);
	if (unlikely(load_relaxed(&c->one.sender_waits)))
		return wefti_one_wake_outside(c, WEFT_ALT_SEND);
	return 0;
}

static NOINLINE int recv_one_any(struct weft_chan *c, void *elem,
				 int64_t deadline)
{
	return recv_one_of(c, elem, deadline, c->elem_bytes);
}

static NOINLINE int recv_one_word(struct weft_chan *c, void *elem,
				  int64_t deadline)
{
	return recv_one_of(c, elem, deadline, WORD);
}

static COLD int send_lost(struct weft_chan *c, const void *elem,
			  int64_t deadline)
{
	unsigned lost = 0;

	wefti_buffer_back_off(&lost);
	return wefti_chan_send_inside(c, elem, deadline);
}

static COLD int recv_lost(struct weft_chan *c, void *elem, int64_t deadline)
{
	unsigned lost = 0;

	wefti_buffer_back_off(&lost);
	return wefti_chan_recv_inside(c, elem, deadline);
}

/* Behind the fence of a push, or of a pop. */
static ALWAYS_INLINE int pushed(struct weft_chan *c)
{
	if (unlikely(!wefti_waiters_is_empty(&c->receivers)))
		return wefti_buffered_serve_outside(c, WEFT_ALT_RECV);
	return 0;
}

static ALWAYS_INLINE int popped(struct weft_chan *c)
{
	if (unlikely(!wefti_waiters_is_empty(&c->senders)))
		return wefti_buffered_serve_outside(c, WEFT_ALT_SEND);
	return 0;
}

/* The place is not where the hint says: it is sought. */
static NOINLINE int send_far(struct weft_chan *c, const void *elem,
			     int64_t deadline)
{
	uint64_t word;
	int room, error = wefti_message_pack(WEFTI_CELL_NONE, elem,
					     c->elem_bytes, NULL, &word);

	if (likely(!error))
		error = wefti_buffer_try_push(&c->buffer, word, &room);
	if (likely(!error))
		return pushed(c);
	if (error == WEFTI_BUFFER_LOST)
		return send_lost(c, elem, deadline);
	return error == -EAGAIN ? wefti_buffered_send_full(c, elem, deadline) :
				  wefti_chan_send_inside(c, elem, deadline);
}

static NOINLINE int recv_far(struct weft_chan *c, void *elem, int64_t deadline)
{
	const size_t bytes = c->elem_bytes;	/* not behind the pop: of buffered.c: I2 */
	uint64_t word;
	int more, error = wefti_buffer_try_pop(&c->buffer, &word, &more);

	if (error == WEFTI_BUFFER_LOST)
		return recv_lost(c, elem, deadline);
	if (unlikely(error))
		return error == -EAGAIN ? wefti_buffered_recv_empty(c, elem, deadline) :
					  wefti_chan_recv_inside(c, elem, deadline);
	wefti_message_unpack(WEFTI_CELL_NONE, elem, bytes, NULL, word);
	return popped(c);
}

/*
 * Looks first for threads that wait on the caller's own side; if there are any, the
 * slow call decides. A thread that begins to wait later looks at the buffer itself, and
 * need not be looked for again. If a receiver waits alone, it gets the message without the
 * buffer.
 */
static ALWAYS_INLINE int send_words(struct weft_chan *c, const void *elem,
				    int64_t deadline, size_t bytes)
{
	uint64_t word;
	int error;

	if (unlikely(!goes_on(wefti_self())))
		return wefti_chan_send_inside(c, elem, deadline);
	if (unlikely(wefti_waiters_may_be_in(&c->senders) |
		     wefti_waiters_lone(&c->receivers)))
		return wefti_buffered_hand(c, elem, deadline);
	if (unlikely(wefti_message_pack(WEFTI_CELL_NONE, elem, bytes, NULL, &word)))
		return wefti_chan_send_inside(c, elem, deadline);
	error = wefti_buffer_push_near(&c->buffer, word);
	if (unlikely(error))
		return error == WEFTI_BUFFER_LOST ?
		       send_lost(c, elem, deadline) :
		       send_far(c, elem, deadline);
	return pushed(c);
}

static NOINLINE int send_word(struct weft_chan *c, const void *elem,
			      int64_t deadline)
{
	return send_words(c, elem, deadline, WORD);
}

static NOINLINE int send_words_any(struct weft_chan *c, const void *elem,
				   int64_t deadline)
{
	return send_words(c, elem, deadline, c->elem_bytes);
}

static ALWAYS_INLINE int recv_words(struct weft_chan *c, void *elem,
				    int64_t deadline, size_t bytes)
{
	uint64_t word;
	int error;

	if (unlikely(!goes_on(wefti_self())))
		return wefti_chan_recv_inside(c, elem, deadline);
	if (unlikely(wefti_waiters_may_be_in(&c->receivers)))
		return wefti_buffered_recv_empty(c, elem, deadline);
	error = wefti_buffer_pop_near(&c->buffer, &word);
	if (unlikely(error))
		return error == WEFTI_BUFFER_LOST ?
		       recv_lost(c, elem, deadline) :
		       recv_far(c, elem, deadline);
	wefti_message_unpack(WEFTI_CELL_NONE, elem, bytes, NULL, word);
	return popped(c);
}

static NOINLINE int recv_word(struct weft_chan *c, void *elem,
			      int64_t deadline)
{
	return recv_words(c, elem, deadline, WORD);
}

static NOINLINE int recv_words_any(struct weft_chan *c, void *elem,
				   int64_t deadline)
{
	return recv_words(c, elem, deadline, c->elem_bytes);
}

int weft_chan_send(struct weft_chan *c, const void *elem, int64_t deadline)
{
	switch (c->way) {
	case WEFTI_CHAN_INSIDE:
		return wefti_chan_send_inside(c, elem, deadline);
	case WEFTI_CHAN_BY_WORD:
		return send_word(c, elem, deadline);
	case WEFTI_CHAN_BY_ONE_WORD:
		return send_one_word(c, elem, deadline);
	case WEFTI_CHAN_BY_WORDS:
		return send_words_any(c, elem, deadline);
	default:
		return send_one_any(c, elem, deadline);
	}
}

int weft_chan_recv(struct weft_chan *c, void *elem, int64_t deadline)
{
	switch (c->way) {
	case WEFTI_CHAN_INSIDE:
		return wefti_chan_recv_inside(c, elem, deadline);
	case WEFTI_CHAN_BY_WORD:
		return recv_word(c, elem, deadline);
	case WEFTI_CHAN_BY_ONE_WORD:
		return recv_one_word(c, elem, deadline);
	case WEFTI_CHAN_BY_WORDS:
		return recv_words_any(c, elem, deadline);
	default:
		return recv_one_any(c, elem, deadline);
	}
}
