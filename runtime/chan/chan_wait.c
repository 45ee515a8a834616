/* SPDX-License-Identifier: MIT */
/*
 * chan/chan_wait.c - a thread waits at channels, for the first of several things
 *
 * Structure
 *   struct wefti_alts (chan/chan.h), on the waiting thread's stack. An alternative's
 *   weft_private is NOT_IN, IN, LATER (below), or the link of its place in a list.
 *
 * States of a call (its wait word is in thread/wait.h)
 *   TRYING   no wait; each alternative is tried once, in a random order. After a wait the
 *            one for which the thread was woken is tried first
 *   SHOWN    the wait has begun; the thread adds itself everywhere, and looks
 *   SETTLED  added everywhere, and nothing could be done
 *   CLAIMED  another thread serves one of the alternatives
 *   DONE     one alternative took effect, or the call failed
 *
 *   TRYING --one could be done--> DONE; TRYING --none--> SHOWN --none--> SETTLED
 *   SHOWN --one could be done: resolves its own wait--> TRYING, that one first
 *   SHOWN --an alternative cannot be added: resolves its own wait--> DONE
 *   SHOWN, SETTLED --claim--> CLAIMED --done, HANDED--> DONE
 *   CLAIMED --retry, WOKEN--> TRYING, that one first
 *   SHOWN, SETTLED --woken--> TRYING; SHOWN, SETTLED --time, cancellation--> DONE
 *
 * Writers
 *   state  random_number
 *
 * Invariants
 *   I1  At most one alternative takes effect. Another thread claims the wait, by one CAS, before it
 *       serves one; the thread itself tries only while it has no open wait.
 *   I2  The thread adds itself, then looks. A thread that makes one possible looks for
 *       waiters afterwards (rendezvous.c: P1, buffered.c: I1, one.h: I3, life/join.c).
 *   I3  Between claim and finish only the claiming thread writes the result.
 *   I4  After the wait the thread withdraws everywhere, except from the place of the claim.
 *
 * Linearization
 *   At that of the alternative that took effect. A time-out, a cancellation: at the wait's resolve.
 *
 * Progress
 *   Lock-free, as its parts are. A thread that stops while it adds itself delays no
 *   other; stopped between claim and finish it delays the claimed thread.
 *
 * ABA and reclamation
 *   A ticket names one wait (thread/wait.h). While the thread withdraws, a channel's struct
 *   may already be another channel.
 *
 * Pairs
 *   None of its own: waiters.c: P4, one.h: P3, and those of thread/wait.h.
 *
 * Source
 *   As Go's select, with a claim of the wait in place of locks (see rendezvous.c).
 */
#include <errno.h>

#include "chan/chan.h"
#include "life/life.h"
#include "os/call/clock.h"
#include "sched/ready.h"
#include "sync/segment.h"

struct weft_alt *wefti_alts_match_many(struct wefti_alts *alts,
				       struct weft_chan *chan, unsigned op)
{
	for (size_t i = 0; i < alts->count; i++)
		if (alts->alt[i].chan == chan && alts->alt[i].op == op)
			return &alts->alt[i];
	WEFT_CHECK(0, "a thread is in a channel's list without an alternative for it");
	return NULL;
}

static void finish(struct wefti_thread *t, struct weft_alt *a, int error,
		   enum wefti_cause cause)
{
	if (wefti_alts_end(t, a, error, cause))
		wefti_ready(t);
}

void wefti_alts_done(struct wefti_thread *t, struct weft_alt *a, int error)
{
	finish(t, a, error, WEFTI_CAUSE_HANDED);
}

void wefti_alts_retry(struct wefti_thread *t, struct weft_alt *a)
{
	finish(t, a, 0, WEFTI_CAUSE_WOKEN);
}

/*
 * One look at all descriptors, by one system call. It is not made if another alternative
 * takes effect first.
 */
static int try_ready(struct wefti_alts *alts, struct weft_alt *a)
{
	if (!alts->looked)
		alts->ready->look(alts);
	alts->looked = 1;
	return alts->ready->try_now(alts, a);
}

/* Tries the alternative. Returns what its call returns without a wait. */
static int try_now(struct wefti_alts *alts, struct weft_alt *a)
{
	struct wefti_thread *self = alts->self;

	switch (a->op) {
	case WEFT_ALT_SEND:
		return wefti_chan_send(a->chan, a->elem, self);
	case WEFT_ALT_RECV:
		return wefti_chan_recv(a->chan, a->elem, self);
	case WEFT_ALT_JOIN:
		return wefti_try_join(self, a->u.thread, a->elem);
	case WEFT_ALT_TIME:
		return a->u.time <= wefti_os_now_ns() ? 0 : -EAGAIN;
	case WEFT_ALT_READY:
		return try_ready(alts, a);
	default:
		return -EAGAIN;
	}
}

/*
 * Values of weft_private[0], besides the link of a place: is it added, or will it be?
 */
#define NOT_IN		UINT64_C(0)
#define IN		UINT64_C(1)	/* added, without a place */
#define LATER		UINT64_C(2)	/* at a rendezvous; not added yet */

_Static_assert(LATER <= WEFTI_LINK_TAG, "no link");

/*
 * As add(), for a channel's waiters. Only a rendezvous may be destroyed by now: see
 * add_all().
 */
static int add_at_chan(struct wefti_alts *alts, struct weft_alt *a)
{
	struct wefti_thread *self = alts->self;
	const int at_rendezvous = a->weft_private[0] == LATER;
	int error;

	if (!at_rendezvous && a->chan->kind == WEFTI_CHAN_ONE) {
		wefti_one_add(a->chan, a->op, alts->ticket);
		a->weft_private[0] = IN;
		return wefti_one_may_go_on(a->chan, a->op);
	}
	error = wefti_waiters_add(wefti_chan_side(a->chan, a->op),
				  alts->ticket, self, a->weft_private);
	if (unlikely(error))
		return error;
	return at_rendezvous ?
	       wefti_rendezvous_may_go_on(a->chan, a->op, self, alts->ticket) :
	       wefti_buffered_may_go_on(a->chan, a->op, self);
}

/*
 * The wait has begun: from now on other threads can find a. Returns 1 if it could be
 * done now, 0 if not, or an error that ends the call.
 */
static int add(struct wefti_alts *alts, struct weft_alt *a)
{
	switch (a->op) {
	case WEFT_ALT_SEND:
	case WEFT_ALT_RECV:
		return add_at_chan(alts, a);
	case WEFT_ALT_JOIN:
		if (wefti_join_enlist(a->u.thread, alts->ticket))
			return 1;
		a->weft_private[0] = IN;
		return 0;
	case WEFT_ALT_READY:
		a->weft_private[0] = IN;	/* even if ready->add() fails */
		return alts->ready->add(alts, a);
	default:
		return 0;
	}
}

/* The wait is over. The channel's struct may be another channel, of another kind. */
static void withdraw(struct wefti_alts *alts, struct weft_alt *a)
{
	if (a->weft_private[0] == NOT_IN || a->weft_private[0] == LATER)
		return;
	if (a->op == WEFT_ALT_JOIN)
		(void)wefti_join_delist(a->u.thread, alts->ticket);
	else if (a->op == WEFT_ALT_READY)
		alts->ready->withdraw(alts, a);
	else if (a->weft_private[0] == IN)
		wefti_one_retire(a->chan, a->op, alts->ticket);
	else
		wefti_waiters_retire(wefti_chan_side(a->chan, a->op),
				     alts->self, a->weft_private);
}

static int is_rendezvous(const struct weft_alt *a)
{
	return (a->op == WEFT_ALT_SEND || a->op == WEFT_ALT_RECV) &&
	       a->chan->kind == WEFTI_CHAN_RENDEZVOUS;
}

/*
 * Adds the alternatives with this mark, until one (*last) could be done or there is an
 * error. Returns as add().
 */
static int add_marked(struct wefti_alts *alts, uint64_t mark, size_t *last)
{
	int could = 0;

	for (size_t i = 0; i < alts->count && !could; i++) {
		if (alts->alt[i].weft_private[0] != mark)
			continue;
		could = add(alts, &alts->alt[i]);
		*last = i;
	}
	return could;
}

/*
 * Adds all alternatives until one could be done, and then ends the wait, unless another
 * thread has. Returns 0 or an error. The kinds are read first, and each rendezvous is added
 * last. While the thread still adds itself, only a partner at a rendezvous may claim it and
 * do its call (buffered.c: I4). Other threads may then destroy its channels, and their
 * structs may become other channels. What the thread still does at a rendezvous harms no
 * channel of any kind.
 */
static int add_all(struct wefti_alts *alts)
{
	size_t last = 0;
	int could;

	for (size_t i = 0; i < alts->count; i++)
		alts->alt[i].weft_private[0] = is_rendezvous(&alts->alt[i]) ?
					       LATER : NOT_IN;
	could = add_marked(alts, NOT_IN, &last);
	if (!could)
		could = add_marked(alts, LATER, &last);
	if (could && wefti_wait_resolve(alts->self, alts->ticket,
					WEFTI_CAUSE_WOKEN) != WEFTI_LOST)
		alts->chosen = last;
	return could < 0 ? could : 0;
}

/* Steps through all alternatives, from a random start with a random step. */
struct order {
	size_t at, step, left, count;
};

static uint64_t random_number(struct wefti_thread *self)
{
	static _Atomic uint64_t state;
	uint64_t x;

	if (likely(self->vcpu))
		return wefti_vcpu_random(self->vcpu);
	x = fetch_add_relaxed(&state, UINT64_C(0x9e3779b97f4a7c15));
	x = (x ^ x >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ x >> 29;
}

static size_t common_divisor(size_t a, size_t b)
{
	while (b) {
		size_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static struct order shuffled(struct wefti_alts *alts)
{
	struct order o = { 0, 1, alts->count, alts->count };

	if (o.count > 1) {
		uint32_t r = (uint32_t)random_number(alts->self);

		o.at = r % o.count;
		o.step = 1 + (r >> 16) % (o.count - 1);
		while (common_divisor(o.step, o.count) != 1)
			o.step++;
	}
	return o;
}

static size_t next_in(struct order *o)
{
	size_t at = o->at;

	o->at = (at + o->step) % o->count;
	o->left--;
	return at;
}

/*
 * Tries alternative i. Returns -EAGAIN if it cannot be done now; else stores the result and
 * returns 0.
 */
static int try_at(struct wefti_alts *alts, size_t i)
{
	int error = try_now(alts, &alts->alt[i]);

	if (error == -EAGAIN)
		return -EAGAIN;
	alts->chosen = i;
	alts->error = error;
	return 0;
}

int wefti_alts_try(struct wefti_alts *alts)
{
	struct order o;

	alts->looked = 0;
	if (alts->chosen < alts->count && try_at(alts, alts->chosen) == 0)
		return 0;
	for (o = shuffled(alts); o.left; )
		if (try_at(alts, next_in(&o)) == 0)
			return 0;
	return -EAGAIN;
}

/* The alternative with the earliest time; count if there is none. */
static size_t earliest(const struct wefti_alts *alts)
{
	size_t found = alts->count;

	for (size_t i = 0; i < alts->count; i++)
		if (alts->alt[i].op == WEFT_ALT_TIME &&
		    (found == alts->count ||
		     alts->alt[i].u.time < alts->alt[found].u.time))
			found = i;
	return found;
}

/* Waits once. Returns the cause of its end, or an error. */
static int wait_once(struct wefti_alts *alts, int64_t deadline,
		     enum wefti_why why, const void *object)
{
	struct wefti_thread *self = alts->self;
	uint64_t flags = wefti_cancel_flag(self);
	enum wefti_cause cause;
	int error;

	if (deadline != WEFT_FOREVER)
		flags |= WEFTI_WAIT_TIMED;
	if (unlikely(self->kind == WEFTI_KIND_FOREIGN))
		flags |= WEFTI_WAIT_FOREIGN;
	alts->chosen = alts->claimed = alts->count;
	self->alts = alts;
	alts->ticket = wefti_ticket(self, wefti_park_begin(self, flags, why,
							   object));
	error = add_all(alts);
	cause = wefti_park(self, deadline);
	for (size_t i = 0; i < alts->count; i++)
		if (i != alts->claimed)	/* the claiming thread has taken it out */
			withdraw(alts, &alts->alt[i]);
	if (unlikely(error) && cause == WEFTI_CAUSE_WOKEN)
		return error;
	return (int)cause;
}

int wefti_alts_wait(struct wefti_alts *alts, int64_t deadline,
		    enum wefti_why why, const void *object)
{
	size_t timer = alts->count > 1 ? earliest(alts) : alts->count;
	int64_t until = deadline;

	if (alts->count == 1 && alts->alt[0].op == WEFT_ALT_TIME)
		timer = 0;
	if (timer < alts->count && alts->alt[timer].u.time <= deadline)
		until = alts->alt[timer].u.time;
	else
		timer = alts->count;
	for (;;) {
		int cause = wait_once(alts, until, why, object);

		switch (cause) {
		case WEFTI_CAUSE_HANDED:
			return 0;
		case WEFTI_CAUSE_WOKEN:
			if (wefti_alts_try(alts) == 0)
				return 0;
			break;
		case WEFTI_CAUSE_TIMEDOUT:
			if (timer == alts->count)
				return -ETIMEDOUT;
			alts->chosen = timer;
			alts->error = 0;
			return 0;
		case WEFTI_CAUSE_CANCELLED:
			return -ECANCELED;
		default:
			return cause;	/* an error */
		}
	}
}
