/* SPDX-License-Identifier: MIT */
/*
 * sync/mutex.c - the hand-off mutex
 *
 * Structure
 *   word   0:32 | top:24 | 0:4 | SWEEP | GRANT | WOKEN | LOCKED; sync/mutex.h has the
 *          meaning of each bit, set and clear; top is the newest node of a stack of
 *          arrivals (sync/mutex_line.c)
 *   list   waiters taken from the stack and reversed, oldest first; belongs to the
 *          owner of the mutex and is passed on with the ownership
 *   owner  the thread that has it; for others a hint, and NULL right after a lock
 *
 * States
 *   FREE       word & LOCKED == 0. Strict: word == 0 then
 *   OWNED      LOCKED
 *   GRANTED    LOCKED | GRANT
 *
 *   FREE --lock, try--> OWNED
 *   OWNED --unlock, no waiter--> FREE
 *   OWNED --unlock, hands over--> OWNED by the next
 *   OWNED --adaptive unlock, WOKEN clear, the head waits up to 1 ms--> FREE with WOKEN,
 *       head woken
 *   OWNED --adaptive unlock, WOKEN clear, the head waits over 1 ms--> OWNED by the head
 *   OWNED --adaptive unlock, WOKEN set, the head waits up to 1 ms--> FREE with WOKEN
 *   OWNED --adaptive unlock, WOKEN set, the head waits over 1 ms--> GRANTED
 *   GRANTED --woken waiter--> OWNED
 *
 * Writers
 *   wefti_age_hook  init/start.c: load_settings
 *   mutex.owner  hand_to, release_adaptive, release_to_others,
 *       wefti_mutex_arrive, wefti_mutex_let_go, wefti_mutex_lock;
 *       mutex_call.c: weft_mutex_lock, weft_mutex_try_lock;
 *       sync/cond.c: hand_to_next, post_wait
 *   mutex.word  compete, let_go, release_adaptive, release_to_others,
 *       take_or_queue, wake_head, wefti_mutex_let_go, wefti_mutex_take_if_free;
 *       mutex_call.c: weft_mutex_lock; mutex_line.c: begin_sweep, pop_top,
 *       wefti_line_leave, wefti_line_take, wefti_line_after_fork;
 *       mutex_line.h: wefti_line_take_strict
 *
 * Invariants
 *   I1  A thread that finds it locked becomes a waiter by the same CAS: it is never
 *       counted without being queued.
 *   I2  Only the owner changes list.
 *   I3  If there are waiters and the mutex is FREE, WOKEN is set, and one of them is on
 *       its way to the word. So no wake-up is lost; and if word == 0, there are no
 *       waiters and the list is empty.
 *   I4  A waiter takes the mutex only by its own CAS, by GRANT, or because its wait was
 *       ended as HANDED; never merely because it runs.
 *   I5  unlock does not touch the mutex after the CAS that clears LOCKED or sets GRANT,
 *       or after it has ended a wait as HANDED: the next owner may free it. A waiter
 *       that is woken to compete is kept (thread/wait.h) before the CAS that lets go,
 *       so that no time-out can end its wait in between, and is woken after the CAS.
 *   I6  Only the thread that ended a wait with a cause, or failed to, decides about the
 *       wait's node. A waiter that has the mutex drops its own node; an owner that
 *       meets a node whose wait was over lets it out (sync/node.h).
 *
 * Linearization
 *   lock: at the CAS that sets LOCKED or clears GRANT, or the end of the wait as
 *   HANDED. unlock: at the CAS that clears LOCKED or sets GRANT, or at that end of a
 *   wait. A time-out: at the resolve of the wait as TIMEDOUT; for a woken waiter, at
 *   the CAS that clears WOKEN while another thread has the mutex.
 *
 * Progress
 *   Lock-free. Every failed CAS is another thread's success; an owner that meets
 *   waiters which timed out drops each of them once. A kernel thread that is stopped
 *   inside lock delays no other: before its CAS it is nothing to others, after it it is
 *   a waiter. (A strict lock is off its stack by then; the thread that runs next there
 *   is stopped with it, as in any switch.) Stopped inside unlock, it is like an owner
 *   stopped in its critical section, or like the waiter that it was about to make
 *   ready. Strict is starvation-free if owners unlock: the list is first in, first out.
 *   Where heirs wait for a VCPU, a strict unlock yields to them (sched/ready.h,
 *   wefti_next_is_heir). Where turns are short, heirs are not announced to idle VCPUs
 *   (sched/idle.h, wefti_idle_announce_heir).
 *
 * ABA and reclamation
 *   Nodes are pushed by CAS, and the owner takes the stack whole. So a top that comes
 *   again has the same next; sync/mutex_line.c says how nodes leave it one by one.
 *   Nodes are in type-stable structs.
 *
 * Pairs
 *   P1  unlock's release (CAS, or the end of a wait)  ->  lock's acquire (of the
 *       word, or of the wait's cause): the user's data, list, owner
 *   P2  push of a node  ->  of mutex_line.c: P1, take: the node's fields; the
 *       saved context of a thread that queued off its stack
 *   P3  WOKEN cleared by the waiter that parks again -> an owner sees it clear: the
 *       node's new seq
 *
 * Source
 *   A. Gidenstam, M. Papatriantafilou, "LFthreads", OPODIS 2007. There a fetch-and-add
 *   counts the locker, and a queue takes it later; an unlocker that finds the count but
 *   not the waiter leaves a token. Count and queue in one word have no such gap and need
 *   no token. unlock can stay away from the mutex once it has let go, as POSIX wants.
 *   See doc/design/runtime.md 7. The adaptive policy's limit of 1 ms is Go's (sync.Mutex).
 */
#include "sync/mutex.h"

#include <errno.h>

#include "os/call/clock.h"
#include "sched/park.h"
#include "sched/park_by.h"
#include "sched/ready.h"
#include "sync/mutex_age.h"
#include "sync/mutex_line.h"

#define LOCKED	WEFTI_MUTEX_LOCKED
#define WOKEN	WEFTI_MUTEX_WOKEN
#define GRANT	WEFTI_MUTEX_GRANT

_Atomic(wefti_age_fn *) wefti_age_hook;

/* OWNED or FREE -> OWNED by the caller (returns 1), or OWNED with one more waiter (0). */
static ALWAYS_INLINE int take_or_queue(struct wefti_mutex *m,
				       struct wefti_node *node)
{
	uint64_t w = load_relaxed(&m->word);

	for (;;) {
		if (!(w & LOCKED)) {
			if (cas_weak_acquire(&m->word, &w, w | LOCKED))	/* P1 */
				return 1;
		} else if (cas_weak_release(&m->word, &w,	/* P2 */
					    wefti_line_pushed(w, node))) {
			return 0;
		}
	}
}

/* The wait of the head was over: takes the head out of the list. */
static NOINLINE void drop_head(struct wefti_mutex *m)
{
	struct wefti_node *head = m->list;

	m->list = head->next;
	wefti_node_let_out(head, WEFTI_NODE_OUT);	/* I6 */
}

/* OWNED by the caller, or FREE, -> OWNED by t. The caller has kept t's wait. */
static ALWAYS_INLINE void hand_to(struct wefti_mutex *m, struct wefti_thread *t)
{
	store_relaxed(&m->owner, t);
	if (wefti_wait_finish(t, WEFTI_CAUSE_HANDED))	/* P1 */
		wefti_ready_heir(t);
}

/* OWNED -> OWNED by the head. Returns 0 if its wait was over; it is dropped then. */
static ALWAYS_INLINE int hand_to_head(struct wefti_mutex *m)
{
	struct wefti_node *head = m->list;
	struct wefti_thread *t = wefti_node_home(head);

	if (unlikely(head->thread != t))	/* the guess saves a load */
		t = head->thread;
	if (!wefti_wait_keep(t, head->seq)) {
		drop_head(m);
		return 0;
	}
	m->list = head->next;
	hand_to(m, t);	/* I5: the mutex may be gone */
	return 1;
}

/* OWNED -> FREE. Returns 0 if word is not exactly w any more. */
static int let_go(struct wefti_mutex *m, uint64_t w)
{
	return cas_release(&m->word, &w, w & ~LOCKED);	/* P1 */
}

/* OWNED -> FREE; the head is woken to compete. Returns 0 if the head was dropped. */
static int wake_head(struct wefti_mutex *m)
{
	struct wefti_thread *t = m->list->thread;
	uint64_t w = load_relaxed(&m->word);

	if (!wefti_wait_keep(t, m->list->seq)) {
		drop_head(m);
		return 0;
	}
	while (!cas_weak_release(&m->word, &w, (w & ~LOCKED) | WOKEN))	/* P1 */
		;
	if (wefti_wait_finish(t, WEFTI_CAUSE_WOKEN))
		wefti_ready(t);
	return 1;
}

/* One try of an unlock with waiters. Returns 1 when it is done. */
static NOINLINE int release_adaptive(struct wefti_mutex *m, uint64_t w)
{
	store_relaxed(&m->owner, NULL);
	if (w & WOKEN) {
		if (!wefti_age_is_over(m->list))
			return let_go(m, w);
		return cas_release(&m->word, &w, w | GRANT);	/* P1 */
	}
	if (wefti_age_is_over(m->list))
		return hand_to_head(m);
	return wake_head(m);
}

/* Returns 1 if a strict unlock handed the mutex to a waiter; an adaptive one returns 0. */
static NOINLINE int release_to_others(struct wefti_mutex *m)
{
	for (;;) {
		uint64_t w = load_acquire(&m->word);	/* P3 */

		if (!m->list) {
			if (w >> WEFTI_MUTEX_TOP_SHIFT) {
				m->list = wefti_line_take(m);
				continue;
			}
			store_relaxed(&m->owner, NULL);
			if (cas_release(&m->word, &w, 0))	/* P1 */
				return 0;
			continue;
		}
		if (m->policy == WEFT_MUTEX_STRICT) {
			if (hand_to_head(m))
				return 1;
		} else if (release_adaptive(m, w)) {
			return 0;
		}
	}
}

/*
 * Inline: every contended unlock of a strict mutex is this, with a list that is there
 * or that must be taken from the stack first.
 */
static ALWAYS_INLINE int hand_over(struct wefti_mutex *m)
{
	if (!m->list)
		m->list = wefti_line_take_strict(m);
	return m->list && hand_to_head(m);
}

static ALWAYS_INLINE int release(struct wefti_mutex *m)
{
	return (likely(m->policy == WEFT_MUTEX_STRICT) &&
		likely(hand_over(m))) || release_to_others(m);
}

int wefti_mutex_release(struct wefti_mutex *m)
{
	return release(m);
}

NOINLINE void wefti_mutex_unlock_slow(struct wefti_mutex *m,
				      struct wefti_thread *self)
{
	struct wefti_vcpu *v;

	wefti_enter_as(self);
	v = self->vcpu;
	if (release(m) && likely(v) && unlikely(wefti_next_is_heir(v)))
		wefti_yield(self);	/* perhaps the heir needs our VCPU */
	wefti_leave(self);
}

/*
 * For a woken waiter: its node is the head of the list, and only it may clear WOKEN.
 * Takes the mutex, or parks again. Returns 1 as the owner, 0 if it must wait again, -1
 * if its time is over and it may go.
 */
static NOINLINE int compete(struct wefti_mutex *m, struct wefti_thread *self,
		   struct wefti_node *node, int64_t deadline)
{
	int timed = deadline != INT64_MAX;
	int late = timed && deadline <= wefti_os_now_ns();
	uint64_t w = load_relaxed(&m->word);

	/* Before WOKEN is cleared: after that, owners look at the node. */
	if (!late)
		node->seq = wefti_park_begin(self, timed ? WEFTI_WAIT_TIMED : 0,
					     WEFTI_WHY_MUTEX, m);
	for (;;) {
		if (w & GRANT) {
			if (cas_weak_acquire(&m->word, &w, w & ~(GRANT | WOKEN)))
				break;		/* P1 */
		} else if (!(w & LOCKED)) {
			if (cas_weak_acquire(&m->word, &w, (w | LOCKED) & ~WOKEN))
				break;		/* P1 */
		} else if (cas_weak_release(&m->word, &w, w & ~WOKEN)) {	/* P3 */
			return late ? -1 : 0;
		}
	}
	if (!late)
		wefti_park_end(self);
	WEFT_ASSERT(m->list == node, "the woken waiter is not the head");
	m->list = node->next;
	return 1;
}

int wefti_mutex_arrive(struct wefti_mutex *m, struct wefti_thread *self,
		       struct wefti_node *node, enum wefti_cause cause,
		       int64_t deadline)
{
	for (;;) {
		int won = 1;

		if (cause == WEFTI_CAUSE_WOKEN)
			won = compete(m, self, node, deadline);
		if (won < 0 || cause == WEFTI_CAUSE_TIMEDOUT) {
			wefti_line_leave(m, node);
			return -ETIMEDOUT;
		}
		if (won) {
			wefti_node_drop(node);		/* I6 */
			if (cause != WEFTI_CAUSE_HANDED)
				store_relaxed(&m->owner, self);
			return 0;
		}
		cause = wefti_park(self, deadline);
	}
}

int wefti_mutex_lock(struct wefti_mutex *m, struct wefti_thread *self,
		     int64_t deadline)
{
	uint64_t flags = deadline != INT64_MAX ? WEFTI_WAIT_TIMED : 0;
	struct wefti_node *node;

	if (wefti_mutex_take_if_free(m)) {
		store_relaxed(&m->owner, self);
		return 0;
	}
	if (wefti_mutex_is_mine(m, self))
		return -EDEADLK;
	if (deadline == WEFT_NO_WAIT)
		return -EBUSY;
	node = wefti_node_get(self);
	if (!node)
		return -ENOMEM;
	node->seq = wefti_park_begin(self, flags, WEFTI_WHY_MUTEX, m);
	wefti_age_begin(m, node);
	if (take_or_queue(m, node)) {
		wefti_park_end(self);
		wefti_node_drop(node);
		store_relaxed(&m->owner, self);
		return 0;
	}
	wefti_mutex_record_owner(m, self);
	return wefti_mutex_arrive(m, self, node, wefti_park(self, deadline),
				  deadline);
}

static NOINLINE void hand_free_to(struct wefti_mutex *m, struct wefti_thread *t)
{
	hand_to(m, t);
}

/* The caller has kept the wait of node's thread, or has just begun it. */
static ALWAYS_INLINE void pass(struct wefti_mutex *m, struct wefti_node *node)
{
	struct wefti_thread *t = node->thread;

	if (unlikely(take_or_queue(m, node)))
		hand_free_to(m, t);
}

void wefti_mutex_pass(struct wefti_mutex *m, struct wefti_node *node)
{
	wefti_age_begin(m, node);
	pass(m, node);
}

/* Runs off t's stack: queues t, or makes it the owner if there is none any more. */
static void post_queue(struct wefti_thread *t)
{
	const void *m = load_relaxed(&t->waits_for);

	t->node.seq = wefti_wait_begin_parked(t, 0);
	pass((struct wefti_mutex *)(uintptr_t)m, &t->node);
}

/*
 * A thread that waits for a strict mutex will most likely be handed it. So it leaves
 * its stack before it queues, with as few instructions as that needs. The node is not
 * marked as lent: only a time-out can leave it behind. At an adaptive mutex a thread
 * had rather take the mutex itself than be made ready as its owner.
 */
NOINLINE int wefti_mutex_lock_slow(struct wefti_mutex *m,
				   struct wefti_thread *self)
{
	int error = 0;

	wefti_enter_as(self);
	if (m->policy == WEFT_MUTEX_STRICT &&
	    likely(self->kind != WEFTI_KIND_FOREIGN) &&
	    likely(load_relaxed(&m->word) & LOCKED) &&
	    likely(!wefti_mutex_is_mine(m, self)) &&
	    likely(wefti_node_is_free(self))) {
		self->node.thread = self;
		wefti_mutex_record_owner(m, self);
		wefti_park_by(self, WEFTI_WHY_MUTEX, m, post_queue);
	} else {
		error = wefti_mutex_lock(m, self, WEFT_FOREVER);
	}
	wefti_leave(self);
	return error;
}
