/* SPDX-License-Identifier: MIT */
/*
 * chan/chan.h - what a channel is
 *
 * The calls, in pseudo code. Receive is the mirror image: senders and receivers change
 * places, pop replaces push, and "closed" becomes "closed and empty".
 *
 *   send(c, m):
 *     loop:
 *       if c is closed: wake every thread that waits in c; return EPIPE
 *       by the kind of c:
 *         RENDEZVOUS: if a waiting receiver can be claimed:
 *                         copy m to it; end its wait as HANDED; return 0
 *         BUFFERED:   if m can be pushed: serve waiting receivers; return 0
 *         ONE:        if m can be pushed: wake the receiver if it waits; return 0
 *       if the caller does not wait: return EAGAIN
 *       begin a wait; put its ticket into c's senders; fence
 *       look at c again: if the send could be done now, end the own wait as WOKEN
 *       park until the wait ends:
 *         HANDED:  a partner has done the call: return its result
 *         WOKEN:   go round the loop
 *         time, cancellation:  take the ticket out; return ETIMEDOUT or ECANCELED
 *
 * A green thread without a deadline waits in rendezvous.c or alone.c, where the
 * arguments are. chan/chan_wait.c does the same for several channels at once, for all other
 * threads, and at a one-to-one channel: one send or receive is an alt of one there.
 */
#ifndef WEFT_CHAN_CHAN_H
#define WEFT_CHAN_CHAN_H

#include "chan/buffer.h"
#include "chan/cell.h"
#include "chan/one.h"
#include "sched/park.h"
#include "sync/waiters.h"
#include "thread/bare.h"
#include "weft/chan.h"

enum wefti_chan_kind {
	WEFTI_CHAN_RENDEZVOUS,	/* capacity 0: chan/rendezvous.c */
	WEFTI_CHAN_BUFFERED,	/* chan/buffered.c */
	WEFTI_CHAN_ONE,		/* declared one-to-one, buffered: chan/one.c */
};

/* Which function of call.c begins a call. */
enum wefti_chan_way {
	WEFTI_CHAN_INSIDE,	/* enters the runtime */
	WEFTI_CHAN_BY_WORD,	/* BUFFERED, messages of 8 bytes */
	WEFTI_CHAN_BY_ONE_WORD,	/* ONE, messages of 8 bytes */
	WEFTI_CHAN_BY_WORDS,	/* BUFFERED, shorter messages */
	WEFTI_CHAN_BY_ONE,	/* ONE, others */
};

/*
 * The struct is type-stable. After other threads have learned of a call's effect, they
 * may end the channel, and the struct may be another channel while the call still looks
 * at its waiters. The call finds no waiter, or claims one. The claimed thread keeps
 * that other channel alive: it is served, or it is told to try again (chan/buffered.c:
 * I2). Without a claim such a late call may touch only senders and receivers, the
 * tickets of `one`, and closed.
 */
struct weft_chan {
	_Atomic uint32_t stock_next;
	uint32_t number;		/* in the stock */
	uint32_t elem_bytes;
	uint8_t kind;			/* enum wefti_chan_kind */
	uint8_t cell_class;
	uint8_t is_owned;		/* one-to-one: the owners are checked */
	uint8_t way;			/* enum wefti_chan_way */
	uint32_t capacity;
	_Atomic uint32_t closed;
	_Atomic uint64_t sender, receiver;	/* thread ids, of a one-to-one channel */
	alignas(CACHE_LINE) struct wefti_waiters senders;
	struct wefti_waiters receivers;
	union {
		struct wefti_buffer buffer;
		struct wefti_one one;
	};
};

struct wefti_alts;

/*
 * What can be done with alternatives of WEFT_ALT_READY. A layer above, which knows
 * descriptors, provides it. look: at all of them, before the first try of a round.
 * try_now: does what the call of any alternative does that does not wait, by what look saw.
 * add: the wait of the ticket has begun, and a thread that finds the descriptor ready ends
 * it as WOKEN; returns 1 (it could be ready), 0, or an error that ends the call. withdraw:
 * the wait is over; called after each add, even one that failed. May park.
 */
struct wefti_alt_ready {
	void (*look)(struct wefti_alts *alts);
	int (*try_now)(struct wefti_alts *alts, struct weft_alt *a);
	int (*add)(struct wefti_alts *alts, struct weft_alt *a);
	void (*withdraw)(struct wefti_alts *alts, struct weft_alt *a);
};

/*
 * A thread's alternatives while it waits, on its stack. thread->alts points here, for
 * the thread that has claimed the wait.
 */
struct wefti_alts {
	struct weft_alt *alt;
	size_t count;
	struct wefti_thread *self;
	const struct wefti_alt_ready *ready;	/* NULL: there is no such alternative */
	uint64_t ticket;
	uint64_t flags;		/* of a wait that begins off the stack */
	uint64_t lone;		/* the same: the place where it is put in */
	/* Written by the thread that has claimed the ticket, then read by self. */
	size_t chosen;		/* count: none */
	size_t claimed;		/* the same; not set when self chose by itself */
	int error;
	int looked;		/* by self: ready->look was called in this round */
};

struct weft_alt *wefti_alts_match_many(struct wefti_alts *alts,
				       struct weft_chan *chan, unsigned op);

/* The first alternative with op on chan. The caller has claimed the thread. */
static inline struct weft_alt *wefti_alts_match(struct wefti_alts *alts,
		struct weft_chan *chan, unsigned op)
{
	return likely(alts->count == 1) ? alts->alt :
	       wefti_alts_match_many(alts, chan, op);
}

/* Ends the claimed thread's wait. Returns 1 if the caller must make the thread ready. */
static inline int wefti_alts_end(struct wefti_thread *t, const struct weft_alt *a,
				 int error, enum wefti_cause cause)
{
	struct wefti_alts *alts = t->alts;

	alts->chosen = alts->claimed =
		likely(alts->count == 1) ? 0 : (size_t)(a - alts->alt);
	alts->error = error;
	return wefti_wait_finish(t, cause);
}

/* wefti_alts_done() without an error, inline: self is the caller. */
static inline void wefti_alts_hand(struct wefti_thread *self, struct wefti_thread *t,
				   const struct weft_alt *a)
{
	if (wefti_alts_end(t, a, 0, WEFTI_CAUSE_HANDED))
		wefti_ready_by(self, t);
}

/* The claimed thread's alternative a took effect. The thread goes on. */
void wefti_alts_done(struct wefti_thread *t, struct weft_alt *a, int error);

/* The claimed thread must try itself, alternative a first. */
void wefti_alts_retry(struct wefti_thread *t, struct weft_alt *a);

/*
 * For each kind of channel, send and recv try once. They return 0, -EAGAIN, -EPIPE or
 * -ENOMEM. wefti_*_may_go_on() is called after the wait has begun and was added to the
 * waiters. It returns 1 if the call could go on now, and may wake other threads that
 * have to go first.
 */
int wefti_rendezvous_send(struct weft_chan *c, const void *elem,
			  struct wefti_thread *self);
int wefti_rendezvous_recv(struct weft_chan *c, void *elem,
			  struct wefti_thread *self);
/* mine: the ticket of the waiting thread, which is not always self. */
int wefti_rendezvous_may_go_on(struct weft_chan *c, unsigned op,
			       struct wefti_thread *self, uint64_t mine);
/*
 * A single send or receive was tried, and self, a green thread, waits without a
 * deadline. Returns what the call returns. May park.
 */
int wefti_rendezvous_wait(struct weft_chan *c, unsigned op, void *elem,
			  struct wefti_thread *self);

int wefti_buffered_send(struct weft_chan *c, const void *elem,
			struct wefti_thread *self);
int wefti_buffered_recv(struct weft_chan *c, void *elem,
			struct wefti_thread *self);
/* The same; or it returns -EAGAIN, if others wait before self. */
int wefti_buffered_wait(struct weft_chan *c, unsigned op, void *elem,
			struct wefti_thread *self);
/*
 * The calls themselves, where the buffer is full or empty, and where a receiver waits alone.
 * The channel has messages of a word at most.
 */
int wefti_buffered_send_full(struct weft_chan *c, const void *elem, int64_t deadline);
int wefti_buffered_recv_empty(struct weft_chan *c, void *elem, int64_t deadline);
int wefti_buffered_hand(struct weft_chan *c, const void *elem, int64_t deadline);
/* Called outside the runtime: serves a thread that waits for op, if any. Returns 0. */
int wefti_buffered_serve_outside(struct weft_chan *c, unsigned op);
int wefti_buffered_may_go_on(struct weft_chan *c, unsigned op,
			     struct wefti_thread *self);

int wefti_one_send(struct weft_chan *c, const void *elem);
int wefti_one_recv(struct weft_chan *c, void *elem);
/* The same; the thread that waits is told to try again. */
int wefti_one_wake_outside(struct weft_chan *c, unsigned op);
int wefti_one_may_go_on(struct weft_chan *c, unsigned op);
void wefti_one_add(struct weft_chan *c, unsigned op, uint64_t ticket);
void wefti_one_retire(struct weft_chan *c, unsigned op, uint64_t ticket);
int wefti_one_close(struct weft_chan *c);
int wefti_one_is_waited_for(struct weft_chan *c);

/*
 * The channel of that life (wefti_waiters_life() of its receivers) is closed: makes all
 * threads that wait in it look again.
 */
void wefti_chan_wake_all(struct weft_chan *c, uint32_t life,
			 struct wefti_thread *self);
/*
 * The same, called by a thread that found it closed: the closing thread may be stopped.
 */
void wefti_chan_found_closed(struct weft_chan *c, struct wefti_thread *self);

/* The whole call, through the runtime, for each kind of channel: chan/call.c. */
int wefti_chan_send_inside(struct weft_chan *c, const void *elem, int64_t deadline);
int wefti_chan_recv_inside(struct weft_chan *c, void *elem, int64_t deadline);

/* A single send or receive that was tried, behind those that wait already. May park. */
int wefti_chan_wait_in_line(struct weft_chan *c, unsigned op, void *elem,
			    int64_t deadline, struct wefti_thread *self);

/* By the channel's kind; see above. */
static inline int wefti_chan_send(struct weft_chan *c, const void *elem,
				  struct wefti_thread *self)
{
	if (c->kind == WEFTI_CHAN_RENDEZVOUS)
		return wefti_rendezvous_send(c, elem, self);
	return c->kind == WEFTI_CHAN_BUFFERED ?
	       wefti_buffered_send(c, elem, self) :
	       wefti_one_send(c, elem);
}

static inline int wefti_chan_recv(struct weft_chan *c, void *elem,
				  struct wefti_thread *self)
{
	if (c->kind == WEFTI_CHAN_RENDEZVOUS)
		return wefti_rendezvous_recv(c, elem, self);
	return c->kind == WEFTI_CHAN_BUFFERED ?
	       wefti_buffered_recv(c, elem, self) :
	       wefti_one_recv(c, elem);
}

/*
 * Tries all alternatives, `chosen` first if it is set. Returns 0 if one took effect, else
 * -EAGAIN.
 */
int wefti_alts_try(struct wefti_alts *alts);

/* Parks until an alternative takes effect. Returns 0, or an error of weft_alt(). */
int wefti_alts_wait(struct wefti_alts *alts, int64_t deadline, enum wefti_why,
		    const void *object);

/*
 * Makes id the owner of a one-to-one channel's side. Returns -EPERM if it has another.
 */
int wefti_chan_own_first(_Atomic uint64_t *owner, uint64_t id);

/* Returns 0, or -EPERM if another thread is the sender (the receiver). */
static inline int wefti_chan_own(struct weft_chan *c, unsigned op,
				 struct wefti_thread *self)
{
	_Atomic uint64_t *owner = op == WEFT_ALT_SEND ? &c->sender :
							&c->receiver;
	uint64_t id = wefti_thread_id(self);

	return likely(load_relaxed(owner) == id) ? 0 :
	       wefti_chan_own_first(owner, id);
}

static inline struct wefti_waiters *wefti_chan_side(struct weft_chan *c,
						    unsigned op)
{
	return op == WEFT_ALT_SEND ? &c->senders : &c->receivers;
}

#endif
