/* SPDX-License-Identifier: MIT */
/*
 * life/join.c - waits for a thread to end, or lets it end alone
 *
 * Structure
 *   join  the join word of a thread: a state with the thread's generation, or the ticket
 *         of the joining thread
 *   gen   the thread's generation, odd while its id is valid
 *
 * States
 *   NONE      it runs, and no thread has asked for its end
 *   a ticket  it runs, and the ticket's thread waits for its end
 *   DETACHED  it releases itself at its end
 *   DONE      it has ended and left its stack; its id is valid
 *   RELEASED  gen is even, or another thread's: the id is not valid
 *
 *   NONE --wefti_join_enlist--> a ticket --wefti_join_delist--> NONE
 *   NONE --detach--> DETACHED --the end--> RELEASED
 *   NONE, a ticket --the end (life/exit.c)--> DONE --try_claim--> RELEASED
 *
 * Writers
 *   thread.join  detach, wefti_join_delist, wefti_join_enlist;
 *       bare.c: wefti_thread_bare; bare.h: wefti_thread_begins;
 *       life/exit.c: make_done
 *
 * Invariants
 *   I1  DONE is stored once in a life, after the thread has left its stack and after its
 *       result is set. DETACHED and DONE are never taken back.
 *   I2  The thread that takes a ticket out of the word decides about the wait. The joiner
 *       takes it out by delist, and then no thread wakes it. exit takes it out by its CAS
 *       to DONE, and then wakes the ticket, once.
 *   I3  One thread makes gen even: the one whose try_claim() succeeds, or the detached
 *       thread itself. It alone releases the struct.
 *   I4  The result is read after that CAS only. Until then the slot may have the next
 *       thread.
 *
 * Linearization
 *   join, detach of an ended thread: at the CAS of gen. detach of one that runs: at the
 *   CAS to DETACHED. -EINVAL, -ESRCH: at the look at gen in wefti_thread_find() or
 *   refusal(), or at a CAS of gen that fails. A time-out, a cancellation: at the CAS of
 *   delist. -EAGAIN: at the load of the word. -EDEADLK: anywhere in the call.
 *
 * Progress
 *   A try and detach are wait-free. A joiner is blocked by the thread that it waits
 *   for, and by no other. (exit tries its CAS again when a joiner has come or gone.)
 *
 * ABA and reclamation
 *   Structs are type-stable, and an id has the generation, of 31 bits. A stale id finds
 *   another generation, unless its slot has had 2^31 threads since. NONE, DETACHED and
 *   DONE contain the generation, so no CAS on the word succeeds for another thread of the
 *   slot. A ticket names one wait of the joiner (thread/wait.h).
 *
 * Pairs
 *   P1  exit stores DONE  ->  join loads it (life/exit.c)
 *   P2  a CAS puts a ticket, NONE or DETACHED into the word  ->  exit's CAS: the
 *       joiner's wait has begun, or is over
 *   Model: tests/model/loom/c/join.c, with exit.c.
 *
 * Source
 *   Ours. glibc has the joiner in a word of the thread too, and joins by a futex.
 */
#include <errno.h>

#include "life/life.h"
#include "sched/park.h"
#include "thread/bare.h"
#include "weft/thread.h"

/* DONE was seen. Returns 0, or -ESRCH if another thread was first. */
static ALWAYS_INLINE int try_claim(struct wefti_thread *self,
		struct wefti_thread *t, uint64_t id, void **result)
{
	uint32_t gen = (uint32_t)(id >> 32);

	/* The load of DONE was the acquire. The release is for the next user of the slot. */
	if (!cas_acq_rel(&t->gen, &gen, gen + 1))	/* P1 */
		return -ESRCH;
	/* Not earlier: if another was first, the slot may have a new thread. */
	if (result)
		*result = t->result;
	WEFTI_PROBE_THREAD(WEFTI_EVENT_RELEASED, t, self);
	if (wefti_records_any())
		wefti_recorded(self->vcpu, WEFTI_EVENT_RELEASED, 0, id,
			       wefti_thread_id(self));
	wefti_release(self->vcpu, t);
	return 0;
}

/*
 * The join word has neither NONE nor DONE of this id: the thread is detached, another
 * waits for its end, or it does not exist any more.
 */
static int refusal(const struct wefti_thread *t, uint64_t id)
{
	return wefti_thread_find(id) == t ? -EINVAL : -ESRCH;
}

int wefti_try_join(struct wefti_thread *self, uint64_t id, void **result)
{
	struct wefti_thread *t = wefti_thread_find(id);
	uint32_t gen = (uint32_t)(id >> 32);
	uint64_t w;

	if (!t)
		return -ESRCH;
	if (t == self)
		return -EDEADLK;
	w = load_acquire(&t->join);	/* P1 */
	if (w == wefti_join_word(gen, WEFTI_JOIN_DONE))
		return try_claim(self, t, id, result);
	if (w == wefti_join_word(gen, WEFTI_JOIN_NONE))
		return -EAGAIN;
	return refusal(t, id);
}

int wefti_join_enlist(uint64_t id, uint64_t ticket)
{
	struct wefti_thread *t = wefti_thread_find(id);
	uint64_t w = wefti_join_word((uint32_t)(id >> 32), WEFTI_JOIN_NONE);

	if (!t)
		return 1;
	/* An alt may name one thread twice. P2; of exit.c: P1 */
	return !cas_acq_rel(&t->join, &w, ticket) && w != ticket;
}

int wefti_join_delist(uint64_t id, uint64_t ticket)
{
	struct wefti_thread *t = wefti_slot_get((uint32_t)id);

	return cas_acq_rel(&t->join, &ticket,	/* P2 */
			   wefti_join_word((uint32_t)(id >> 32),
					   WEFTI_JOIN_NONE));
}

/*
 * Parks until the thread may have ended. Returns 0, or an error of weft_join_until().
 */
static int wait_done(struct wefti_thread *self, uint64_t id, int64_t deadline)
{
	uint64_t flags = wefti_cancel_flag(self), seq, ticket;
	enum wefti_cause cause;

	if (deadline == WEFT_NO_WAIT)
		return -EAGAIN;
	if (deadline != WEFT_FOREVER)
		flags |= WEFTI_WAIT_TIMED;
	seq = wefti_park_begin(self, flags, WEFTI_WHY_JOIN,
			       wefti_slot_get((uint32_t)id));
	ticket = wefti_ticket(self, seq);
	if (wefti_join_enlist(id, ticket)) {
		wefti_park_end(self);
		return 0;	/* the join word has changed: look again */
	}
	cause = wefti_park(self, deadline);
	if (cause == WEFTI_CAUSE_WOKEN)
		return 0;
	if (wefti_join_delist(id, ticket))
		return cause == WEFTI_CAUSE_TIMEDOUT ? -ETIMEDOUT : -ECANCELED;
	return 0;	/* the thread has ended after all */
}

static int join(struct wefti_thread *self, uint64_t id, void **result,
		int64_t deadline)
{
	const struct wefti_thread *t = wefti_thread_find(id);

	if (t && t != self && wefti_is_cancelled(self))
		return -ECANCELED;
	for (;;) {
		int error = wefti_try_join(self, id, result);

		if (error != -EAGAIN)
			return error;
		error = wait_done(self, id, deadline);
		if (error)
			return error;
	}
}

int weft_join_until(uint64_t id, void **result, int64_t deadline)
{
	struct wefti_thread *self = wefti_enter();
	int error = join(self, id, result, deadline);

	wefti_leave(self);
	return error;
}

/*
 * Most threads have ended by the time they are joined. A short thread that ran before its
 * parent went on always has. If the thread does not exist any more, the claim fails, as in
 * the slow path. A caller that is not in the runtime yet, or was cancelled, goes that path.
 */
int weft_join(uint64_t id, void **result)
{
	struct wefti_thread *self = wefti_self();
	struct wefti_thread *t = wefti_slot_get((uint32_t)id);
	uint64_t done = wefti_join_word((uint32_t)(id >> 32), WEFTI_JOIN_DONE);
	int error;

	if (unlikely(!self) || unlikely(!t) ||
	    unlikely(load_acquire(&t->join) != done) ||	/* P1 */
	    unlikely(load_relaxed(&self->cancel)))
		return weft_join_until(id, result, WEFT_FOREVER);
	wefti_enter_as(self);
	error = try_claim(self, t, id, result);
	wefti_leave(self);
	return error;
}

static int detach(struct wefti_thread *self, uint64_t id)
{
	struct wefti_thread *t = wefti_thread_find(id);
	uint32_t gen = (uint32_t)(id >> 32);
	uint64_t w = wefti_join_word(gen, WEFTI_JOIN_NONE);

	if (!t)
		return -ESRCH;
	if (cas_acq_rel(&t->join, &w,	/* P2 */
			wefti_join_word(gen, WEFTI_JOIN_DETACHED)))
		return 0;
	w = load_acquire(&t->join);	/* P1 */
	if (w == wefti_join_word(gen, WEFTI_JOIN_DONE))
		return try_claim(self, t, id, NULL);
	return refusal(t, id);
}

int weft_detach(uint64_t id)
{
	struct wefti_thread *self = wefti_enter();
	int error = detach(self, id);

	wefti_leave(self);
	return error;
}
