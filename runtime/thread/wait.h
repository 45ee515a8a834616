/* SPDX-License-Identifier: MIT */
/*
 * thread/wait.h - the wait word: park, unpark, time-out and cancel in one place
 *
 * Structure
 *   thread->wait = seq:56 | cause:4 | CANCELLABLE:1 | TIMED:1 | phase:2
 *   While the thread waits, the bits of cause are CLAIMED, SOLE, SUMMONED and FOREIGN.
 *   seq counts the thread's episodes of waiting. A ticket names one episode: (thread,
 *   seq), or packed slot:24 | seq:40.
 *
 * States (phase)
 *   IDLE      not waiting; cause says how the last episode ended
 *   ARMED     waiting, but still on its stack
 *   PARKED    waiting, with its context saved
 *
 *   IDLE --begin--> ARMED --commit--> PARKED
 *   IDLE --begin_parked--> PARKED
 *   ARMED, PARKED --resolve(cause)--> IDLE
 *   ARMED, PARKED --claim--> the same, CLAIMED --finish(cause)--> IDLE
 *   PARKED --summon--> the same, SUMMONED --resolve(WOKEN)--> IDLE
 *   any --forget--> IDLE, in the child of a fork, which does not have the thread
 *
 * Writers
 *   thread.wait  wefti_wait_begin, wefti_wait_begin_parked, wefti_wait_claim,
 *       wefti_wait_commit, wefti_wait_finish, wefti_wait_finish_sole,
 *       wefti_wait_forget, wefti_wait_keep, wefti_wait_resolve,
 *       wefti_wait_resolve_armed, wefti_wait_resolve_parked, wefti_wait_summon;
 *       node.c: wefti_node_get_spare; park.h: wefti_park_end
 *
 * Invariants
 *   I1  Only the thread itself, or its post-switch action, begins an episode, and only
 *       when IDLE.
 *   I2  commit runs once, off the thread's stack (in the post-switch action); so does
 *       begin_parked, which replaces it.
 *   I3  Each episode ends exactly once: by one successful CAS, or by a store of the
 *       thread that holds it alone (finish, finish_sole).
 *   I4  The thread that resolves PARKED makes the waiting thread ready, and no other
 *       does. A thread that resolves ARMED does nothing more: commit fails, and makes
 *       the waiting thread ready.
 *   I5  A time-out resolves only while TIMED is set, a cancellation only while
 *       CANCELLABLE is.
 *   I6  An episode is claimed once; then only the claiming thread ends it.
 *   I7  A SOLE episode begins PARKED. One waker gets its ticket; only a cancellation
 *       can come before that waker. Waker and canceller each announce themselves and
 *       then look for the other (sched/park.h). A canceller that sees the waker goes
 *       away, so a waker that sees none needs no CAS.
 *   I8  Before a thread sets SUMMONED, it has ensured that the episode will be resolved
 *       by one of several threads (sched/summons.c), and only these still do so. With
 *       FOREIGN, SUMMONED itself ensures that, and any thread may still resolve it.
 *
 * Linearization
 *   begin and begin_parked: at their store. commit and resolve: at their CAS. A resolve
 *   that returns LOST: at its last load.
 *
 * Progress
 *   All are wait-free, except for CAS failures. Another thread's change makes one fail: of
 *   those an episode has a handful (commit, keep, claim, summon), each at most once.
 *
 * ABA and reclamation
 *   Threads are type-stable. seq makes the word of every episode different: 56 bits do
 *   not wrap. A packed ticket that is held over exactly 2^40 episodes of one thread is
 *   wrong; we accept that.
 *
 * Pairs
 *   P1  commit, begin_parked store PARKED   ->  resolve's CAS, is_parked: the saved
 *                                  context, and that the thread has stopped looking at
 *                                  what it waits for
 *   P2  resolve stores a cause, summon marks a FOREIGN word -> load by the thread:
 *                                  what the waker did before
 *   Models: tests/model/loom/c/wait.c, claim.c, summons.c.
 *
 * Source
 *   The split of begin and commit is that of eventcounts (D. Reed, R. Kanodia,
 *   1979). The claim word for several wakers is that of Concurrent ML's alt.
 */
#ifndef WEFT_THREAD_WAIT_H
#define WEFT_THREAD_WAIT_H

#include "base/check.h"
#include "thread/thread.h"

#define WEFTI_WAIT_PHASE	((uint64_t)3)
#define WEFTI_WAIT_IDLE		((uint64_t)0)
#define WEFTI_WAIT_ARMED	((uint64_t)1)
#define WEFTI_WAIT_PARKED	((uint64_t)2)
#define WEFTI_WAIT_TIMED	((uint64_t)4)
#define WEFTI_WAIT_CANCELLABLE	((uint64_t)8)
#define WEFTI_WAIT_CLAIMED	((uint64_t)16)	/* not in IDLE */
#define WEFTI_WAIT_SOLE		((uint64_t)32)	/* not in IDLE */
#define WEFTI_WAIT_SUMMONED	((uint64_t)64)	/* only in PARKED */
#define WEFTI_WAIT_FOREIGN	((uint64_t)128)	/* not in IDLE; may be summoned */
#define WEFTI_WAIT_CAUSE_SHIFT	4
#define WEFTI_WAIT_SEQ_SHIFT	8

enum wefti_cause {
	WEFTI_CAUSE_NONE,
	WEFTI_CAUSE_WOKEN,
	WEFTI_CAUSE_HANDED,	/* woken as the owner of what it waited for */
	WEFTI_CAUSE_TIMEDOUT,
	WEFTI_CAUSE_CANCELLED,
	WEFTI_CAUSE_SIGNALLED,	/* woken by a condition variable's signal */
};

enum wefti_resolved {
	WEFTI_LOST,		/* the episode was over */
	WEFTI_WAS_ARMED,	/* nothing to do: the thread sees it */
	WEFTI_WAS_PARKED,	/* the caller must make the thread ready */
};

#define WEFTI_TICKET_SEQ_BITS	40
#define WEFTI_TICKET_SEQ_MASK	((UINT64_C(1) << WEFTI_TICKET_SEQ_BITS) - 1)

static inline uint64_t wefti_ticket(const struct wefti_thread *t, uint64_t seq)
{
	return (uint64_t)t->slot << WEFTI_TICKET_SEQ_BITS |
	       (seq & WEFTI_TICKET_SEQ_MASK);
}

static inline struct wefti_thread *wefti_ticket_thread(uint64_t ticket)
{
	return wefti_slot_get((uint32_t)(ticket >> WEFTI_TICKET_SEQ_BITS));
}

/* IDLE -> ARMED. Returns the episode's seq. */
static inline uint64_t wefti_wait_begin(struct wefti_thread *self,
					uint64_t flags)
{
	uint64_t seq = (load_relaxed(&self->wait) >> WEFTI_WAIT_SEQ_SHIFT) + 1;

	/* A thread that gets the ticket gets it by a release of its queue. */
	store_relaxed(&self->wait, seq << WEFTI_WAIT_SEQ_SHIFT |
		      WEFTI_WAIT_ARMED | flags);
	return seq;
}

/*
 * IDLE -> PARKED, by the post-switch action: the context is saved. The ticket is made
 * known only afterwards; depending on `flags` the wait may be ended before that. Then the
 * thread goes on, and its stack is not to be read any more.
 */
static inline uint64_t wefti_wait_begin_parked(struct wefti_thread *t,
					       uint64_t flags)
{
	uint64_t seq = (load_relaxed(&t->wait) >> WEFTI_WAIT_SEQ_SHIFT) + 1;

	store_release(&t->wait, seq << WEFTI_WAIT_SEQ_SHIFT |	/* P1 */
		      WEFTI_WAIT_PARKED | flags);
	perturb_here();
	return seq;
}

/* ARMED -> PARKED. Returns 0 if the episode has been resolved meanwhile. */
static inline int wefti_wait_commit(struct wefti_thread *t)
{
	uint64_t w = load_relaxed(&t->wait);

	while ((w & WEFTI_WAIT_PHASE) == WEFTI_WAIT_ARMED) {
		uint64_t parked = w - WEFTI_WAIT_ARMED + WEFTI_WAIT_PARKED;

		/* P1; seq_cst: a canceller looks here after it set its flag. */
		if (cas_weak_seq_cst(&t->wait, &w, parked))
			return 1;
	}
	return 0;
}

/* ARMED, PARKED -> IDLE with a cause, if seq is still the episode. */
static inline enum wefti_resolved wefti_wait_resolve(struct wefti_thread *t,
				uint64_t seq, enum wefti_cause cause)
{
	uint64_t w = load_relaxed(&t->wait);

	for (;;) {
		uint64_t phase = w & WEFTI_WAIT_PHASE;

		if (((w >> WEFTI_WAIT_SEQ_SHIFT) ^ seq) & WEFTI_TICKET_SEQ_MASK)
			return WEFTI_LOST;
		if (phase == WEFTI_WAIT_IDLE || (w & WEFTI_WAIT_CLAIMED))
			return WEFTI_LOST;
		if (cause == WEFTI_CAUSE_TIMEDOUT && !(w & WEFTI_WAIT_TIMED))
			return WEFTI_LOST;
		if (cause == WEFTI_CAUSE_CANCELLED &&
		    !(w & WEFTI_WAIT_CANCELLABLE))
			return WEFTI_LOST;

		uint64_t idle = w >> WEFTI_WAIT_SEQ_SHIFT <<
				WEFTI_WAIT_SEQ_SHIFT |
				(uint64_t)cause << WEFTI_WAIT_CAUSE_SHIFT;

		/* P1 (acquire side), P2 (release side) */
		if (cas_weak_acq_rel(&t->wait, &w, idle))
			return (enum wefti_resolved)phase;
	}
}

/* The same, only if it is PARKED. The caller runs the thread or makes it ready. */
static inline int wefti_wait_resolve_parked(struct wefti_thread *t,
				uint64_t seq, enum wefti_cause cause)
{
	uint64_t w = load_relaxed(&t->wait);

	while ((w & WEFTI_WAIT_PHASE) == WEFTI_WAIT_PARKED &&
	       !(w & WEFTI_WAIT_CLAIMED) &&
	       !(((w >> WEFTI_WAIT_SEQ_SHIFT) ^ seq) & WEFTI_TICKET_SEQ_MASK)) {
		uint64_t idle = w >> WEFTI_WAIT_SEQ_SHIFT <<
				WEFTI_WAIT_SEQ_SHIFT |
				(uint64_t)cause << WEFTI_WAIT_CAUSE_SHIFT;

		/* P1, P2 */
		if (cas_weak_acq_rel(&t->wait, &w, idle))
			return 1;
	}
	return 0;
}

/*
 * From here on time-outs and cancellations come too late: only the caller ends the
 * episode, or moves it to another queue. Returns 0 if it was over before. Costs no RMW
 * if no other could end the wait anyway.
 */
static inline int wefti_wait_keep(struct wefti_thread *t, uint64_t seq)
{
	uint64_t w = load_relaxed(&t->wait);

	while (!(((w >> WEFTI_WAIT_SEQ_SHIFT) ^ seq) & WEFTI_TICKET_SEQ_MASK) &&
	       (w & WEFTI_WAIT_PHASE) != WEFTI_WAIT_IDLE) {
		if (!(w & (WEFTI_WAIT_TIMED | WEFTI_WAIT_CANCELLABLE)))
			return 1;
		/* P1, P2: the caller may read and write the thread's node */
		if (cas_weak_acq_rel(&t->wait, &w, w &
			~(WEFTI_WAIT_TIMED | WEFTI_WAIT_CANCELLABLE)))
			return 1;
	}
	return 0;
}

/* ARMED -> IDLE with a cause. Returns 0 if it is PARKED, 1 also if it was over. */
static inline int wefti_wait_resolve_armed(struct wefti_thread *t,
				uint64_t seq, enum wefti_cause cause)
{
	uint64_t w = load_relaxed(&t->wait);

	while (!(((w >> WEFTI_WAIT_SEQ_SHIFT) ^ seq) & WEFTI_TICKET_SEQ_MASK) &&
	       (w & WEFTI_WAIT_PHASE) == WEFTI_WAIT_ARMED &&
	       !(w & WEFTI_WAIT_CLAIMED)) {
		/* P2 */
		if (cas_weak_acq_rel(&t->wait, &w,
				     w >> WEFTI_WAIT_SEQ_SHIFT <<
				     WEFTI_WAIT_SEQ_SHIFT |
				     (uint64_t)cause << WEFTI_WAIT_CAUSE_SHIFT))
			return 1;
	}
	return (w & WEFTI_WAIT_PHASE) != WEFTI_WAIT_PARKED ||
	       (((w >> WEFTI_WAIT_SEQ_SHIFT) ^ seq) & WEFTI_TICKET_SEQ_MASK);
}

/* w is not IDLE: will some thread end the episode for sure? */
static inline int wefti_wait_is_taken(uint64_t w)
{
	return (w & WEFTI_WAIT_CLAIMED) ||
	       (w & (WEFTI_WAIT_SUMMONED | WEFTI_WAIT_FOREIGN)) ==
		       WEFTI_WAIT_SUMMONED;
}

/* Can the episode of the ticket still be claimed? A hint. */
static inline int wefti_wait_is_open(const struct wefti_thread *t,
				     uint64_t ticket)
{
	uint64_t w = load_relaxed(&t->wait);

	return !(((w >> WEFTI_WAIT_SEQ_SHIFT) ^ ticket) &
		 WEFTI_TICKET_SEQ_MASK) &&
	       (w & WEFTI_WAIT_PHASE) != WEFTI_WAIT_IDLE &&
	       !wefti_wait_is_taken(w);
}

/* Called for a claimed thread: is it PARKED, and so looks no more? */
static inline int wefti_wait_is_parked(const struct wefti_thread *t)
{
	uint64_t w = load_acquire(&t->wait);	/* P1: commit's release */

	return (w & WEFTI_WAIT_PHASE) == WEFTI_WAIT_PARKED;
}

/*
 * As wefti_wait_keep(), for a thread that several could find at once: it becomes the
 * caller's alone. Returns 0 if another thread was first, or the episode was over.
 */
static inline int wefti_wait_claim(struct wefti_thread *t, uint64_t seq)
{
	uint64_t w = load_relaxed(&t->wait);

	while (!(((w >> WEFTI_WAIT_SEQ_SHIFT) ^ seq) & WEFTI_TICKET_SEQ_MASK) &&
	       (w & WEFTI_WAIT_PHASE) != WEFTI_WAIT_IDLE &&
	       !wefti_wait_is_taken(w)) {
		/* P1, P2: the caller may read and write what the thread has */
		if (cas_weak_acq_rel(&t->wait, &w, (w | WEFTI_WAIT_CLAIMED) &
			~(WEFTI_WAIT_TIMED | WEFTI_WAIT_CANCELLABLE)))
			return 1;
	}
	return 0;
}

/*
 * PARKED -> the same with SUMMONED, if it is still open: time-outs and cancellations
 * come too late then. Returns 0 if it is not open.
 */
static inline int wefti_wait_summon(struct wefti_thread *t, uint64_t seq)
{
	uint64_t w = load_relaxed(&t->wait);

	while (!(((w >> WEFTI_WAIT_SEQ_SHIFT) ^ seq) & WEFTI_TICKET_SEQ_MASK) &&
	       (w & WEFTI_WAIT_PHASE) == WEFTI_WAIT_PARKED &&
	       !wefti_wait_is_taken(w)) {
		/* P2, for a FOREIGN one */
		if (cas_weak_release(&t->wait, &w, (w | WEFTI_WAIT_SUMMONED) &
			~(WEFTI_WAIT_TIMED | WEFTI_WAIT_CANCELLABLE)))
			return 1;
	}
	return 0;
}

/*
 * Ends an episode that the caller has kept or claimed: ARMED, PARKED -> IDLE with a
 * cause. Only commit still changes the word of such an episode, so once it is PARKED a
 * store is enough. Returns 1 if the caller must make t ready.
 */
static inline int wefti_wait_finish(struct wefti_thread *t,
				    enum wefti_cause cause)
{
	uint64_t w = load_acquire(&t->wait);	/* P1: commit's release */

	for (;;) {
		uint64_t idle = w >> WEFTI_WAIT_SEQ_SHIFT <<
				WEFTI_WAIT_SEQ_SHIFT |
				(uint64_t)cause << WEFTI_WAIT_CAUSE_SHIFT;

		if ((w & WEFTI_WAIT_PHASE) == WEFTI_WAIT_PARKED) {
			store_release(&t->wait, idle);	/* P2 */
			return 1;
		}
		if (cas_release(&t->wait, &w, idle))	/* P2 */
			return 0;
		w = load_acquire(&t->wait);	/* P1: commit's release */
	}
}

/*
 * Ends a SOLE episode; called by its waker, which no canceller can have overlooked
 * (I7): PARKED -> IDLE with a cause. Returns 0 if it is over, or not SOLE.
 */
static inline int wefti_wait_finish_sole(struct wefti_thread *t, uint64_t seq,
					 enum wefti_cause cause)
{
	uint64_t word = seq << WEFTI_WAIT_SEQ_SHIFT;
	uint64_t w = load_acquire(&t->wait);	/* P1 */

	if ((w & ~WEFTI_WAIT_CANCELLABLE) !=
	    (word | WEFTI_WAIT_SOLE | WEFTI_WAIT_PARKED))
		return 0;
	store_release(&t->wait, word |		/* P2 */
		      (uint64_t)cause << WEFTI_WAIT_CAUSE_SHIFT);
	return 1;
}

/* In the child of a fork, where the thread does not exist: no thread makes it ready. */
static inline void wefti_wait_forget(struct wefti_thread *t)
{
	uint64_t seq = load_relaxed(&t->wait) >> WEFTI_WAIT_SEQ_SHIFT;

	store_relaxed(&t->wait, seq << WEFTI_WAIT_SEQ_SHIFT);
}

/* Called by the thread itself: how did the episode end? NONE: it has not ended. */
static inline enum wefti_cause wefti_wait_cause(struct wefti_thread *self)
{
	uint64_t w = load_acquire(&self->wait);	/* P2: resolve's release */

	if ((w & WEFTI_WAIT_PHASE) != WEFTI_WAIT_IDLE)
		return WEFTI_CAUSE_NONE;
	return (enum wefti_cause)(w >> WEFTI_WAIT_CAUSE_SHIFT & 15);
}

#endif
