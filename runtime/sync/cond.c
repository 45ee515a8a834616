/* SPDX-License-Identifier: MIT */
/*
 * sync/cond.c - condition variables
 *
 * Structure
 *   A wait list (sync/waitlist.c), FREE only as 0. count is the number of signals left
 *   to the server; its maximum means a broadcast. mutex is the waiters' mutex.
 *
 *   How a wait ends
 *   SIGNALLED  by a signal, or by a broadcast to the only waiter. The thread locks the
 *              mutex itself, unless it was handed the mutex (I4)
 *   HANDED     a broadcast passed the node to the mutex's queue, and an owner of the
 *              mutex handed it over from there
 *   WOKEN      the same, but the owner of an adaptive mutex woke the thread to compete
 *   TIMEDOUT, CANCELLED  by the deadline, by a cancellation
 *
 *   Costs in RMWs. A signal without waiters: none, only a load.
 *   A wait: one to queue, which the first waiter need not make (I5), and the mutex's
 *   two. It needs neither of the two if it hands the mutex to a signalled thread (I4).
 *   With a deadline, or for a foreign thread, one more to commit the park.
 *   A signal for the only waiter: one to take it; if the waiter has a deadline, is
 *   foreign or is being cancelled, one more to end its wait (sched/park.h,
 *   wefti_unpark_sole). With more waiters: one to be the server, one to leave, and one
 *   for each wait it ends that a deadline or a cancellation could have ended.
 *   A broadcast: the same, and one for each waiter to queue it at the mutex.
 *   If a server is at work, a signal or a broadcast is one.
 *
 * Writers
 *   cond.mutex  wait_inside
 *
 * Invariants
 *   I1  A waiter is in the list before it gives up the mutex. Without a deadline, both
 *       are done for it when it is off its stack, PARKED. A cancellation works on the
 *       wait word and may come before both. Then the waiter comes back for the mutex
 *       while that is still being given up for it. It locks the mutex as any thread
 *       does, since it is not marked as the owner any more. When it has the mutex, its
 *       node has been in the list.
 *   I2  A signal wakes the oldest waiter that queued before it. A broadcast ends the
 *       waiting of all of these at once; but they go on waiting in the mutex's queue,
 *       and wake one by one, as its owners.
 *   I3  A thread that was woken does not touch the condition variable again. A thread
 *       that timed out or was cancelled touches it only as the mutex's owner, and only
 *       while its node is still in the list.
 *   I4  A thread that begins to wait may hand the mutex to the thread that runs next on
 *       its VCPU. It does so only if that thread has been signalled and comes back for
 *       this mutex, and if no other thread waits for the mutex at that moment. This is
 *       the same as an unlock and a lock: LOCKED stays, and owner names the new owner.
 *       All fields of that thread that are looked at are its own, and the thread does
 *       nothing until the post-switch action is over.
 *   I5  A word that is 0 changes only by a push, and the pushing thread owns the mutex;
 *       this includes the post-switch action that pushes for its thread. So the first
 *       waiter queues by a store.
 *
 *   By I3 the memory may be freed once a broadcast has returned, if no thread waits
 *   again. If the mutex's owner makes the broadcast, no thread is reporting a time-out
 *   meanwhile, and threads that time out later find that their node is out. If the
 *   broadcast is made without the mutex, a thread that timed out just then can be
 *   reporting it, as the server. Then destroy returns -EBUSY, since that thread has not
 *   been woken; and the broadcast has been left to it.
 *
 * Linearization
 *   wait: begins at its push (CAS or store), or at its end if that was earlier; ends
 *   at the resolve of the wait.
 *   signal, broadcast: at the CAS that takes the waiter, becomes the server, or adds to
 *   count; at the load, if there was no waiter.
 *
 * Progress
 *   Lock-free; see waitlist.c. A wait returns when it has the mutex again.
 *
 * ABA and reclamation
 *   See waitlist.c.
 *
 * Pairs
 *   P1  of waitlist.c (P1 and P2 there): a push, a request -> the CAS that takes it
 *   P2  owner, stored by the thread that hands over -> the new owner's load: the user's
 *       data (it is the same kernel thread; the pair tells ThreadSanitizer so)
 *   Model: tests/model/loom/c/cond.c.
 *
 * Source
 *   C. A. R. Hoare, "Monitors", 1974, with the signal semantics of B. Lampson
 *   and D. Redell, "Experience with processes and monitors in Mesa", 1980.
 *   Passing waiters to the mutex is the "wait morphing" of several pthreads.
 */
#include "weft/cond.h"

#include <errno.h>

#include "os/call/clock.h"
#include "sched/park.h"
#include "sched/park_by.h"
#include "sched/ready.h"
#include "sync/mutex.h"
#include "sync/waitlist.h"

struct wefti_cond {
	struct wefti_waitlist list;
	/* Written by waiters, which own it; read by the server. */
	_Atomic(struct wefti_mutex *) mutex;
	uint64_t reserved[2];
};

_Static_assert(sizeof(struct wefti_cond) == sizeof(struct weft_cond),
	       "the public size is the size");

#define ALL	WEFTI_LIST_COUNT_MAX

#define SIGNALLED	WEFTI_NODE_SIGNALLED
#define PASSED		WEFTI_NODE_PASSED

static struct wefti_cond *cond_of(struct weft_cond *cond)
{
	return (struct wefti_cond *)(void *)cond;
}

static void signal_some(struct wefti_service *s, uint32_t signals)
{
	for (uint32_t i = 0; i < signals; i++) {
		struct wefti_node *node = wefti_waitlist_wake_oldest(s);

		if (!node)
			return;
		store_relaxed(&node->data,
			      (uint64_t)(signals == ALL ? PASSED : SIGNALLED));
	}
}

static uint64_t rest(struct wefti_service *s)
{
	struct wefti_cond *c = container_of(s->list, struct wefti_cond, list);

	s->context = load_relaxed(&c->mutex);	/* before the pushes: P1 */
	return 0;
}

static void wake(struct wefti_service *s, struct wefti_node *node)
{
	struct wefti_thread *t = node->thread;

	if (load_relaxed(&node->data) == PASSED) {
		/* For dumps. The thread itself does not write these now. */
		t->why = WEFTI_WHY_MUTEX;
		store_relaxed(&t->waits_for, s->context);
		wefti_mutex_pass(s->context, node);
	} else if (wefti_wait_finish(t, WEFTI_CAUSE_SIGNALLED)) {
		wefti_ready(t);
	}
}

static const struct wefti_waitlist_ops ops = {
	.arrive = wefti_waitlist_append, .request = signal_some,
	.rest = rest, .wake = wake,
};

static void queue(struct wefti_waitlist *list, struct wefti_node *node)
{
	uint64_t w = load_acquire(&list->word);	/* P1: the last CAS that cleared it */

	if (likely(!w))		/* I5 */
		store_release(&list->word,	/* P1 */
			      wefti_waitlist_pushed(w, node, 0));
	else
		while (!cas_weak_release(&list->word, &w,	/* P1 */
					 wefti_waitlist_pushed(w, node, 0)))
			;
}

/* If there is no memory for a place in the queue, tries again and again. */
static void take_surely(struct wefti_mutex *m, struct wefti_thread *self)
{
	while (wefti_mutex_lock(m, self, WEFT_FOREVER) == -ENOMEM)
		wefti_yield(self);
}

static int come_back(struct wefti_cond *c, struct wefti_mutex *m,
		     struct wefti_thread *self, struct wefti_node *node,
		     enum wefti_cause cause)
{
	switch (cause) {
	case WEFTI_CAUSE_SIGNALLED:
		wefti_node_drop(node);
		if (load_acquire(&m->owner) != self)	/* P2 */
			take_surely(m, self);
		return 0;
	case WEFTI_CAUSE_WOKEN:
	case WEFTI_CAUSE_HANDED:	/* passed to the mutex, and woken by it */
		return wefti_mutex_arrive(m, self, node, cause, WEFT_FOREVER);
	default:
		take_surely(m, self);
		wefti_waitlist_withdraw(&c->list, node, self, &ops);	/* I3 */
		return cause == WEFTI_CAUSE_CANCELLED ? -ECANCELED :
							-ETIMEDOUT;
	}
}

static void give_up(struct wefti_mutex *m)
{
	if (!wefti_mutex_let_go(m))
		wefti_mutex_release(m);
}

/*
 * OWNED -> OWNED by the thread that runs next here, if that was signalled and is about
 * to lock m, and no thread waits for m (I4). Returns 0 otherwise.
 */
static int hand_to_next(struct wefti_mutex *m)
{
	struct wefti_thread *next = wefti_self();

	if (next->why != WEFTI_WHY_COND || next->gives_up != m ||
	    wefti_wait_cause(next) != WEFTI_CAUSE_SIGNALLED ||
	    m->list || load_relaxed(&m->word) != WEFTI_MUTEX_LOCKED)
		return 0;
	store_release(&m->owner, next);	/* P2 */
	return 1;
}

/*
 * Runs off t's stack: t is in the list now, and without the mutex (I1). If t's wait is
 * ended before that, t cannot have the mutex before it is given up here.
 */
static void post_wait(struct wefti_thread *t)
{
	struct wefti_cond *c = (struct wefti_cond *)(uintptr_t)
			       load_relaxed(&t->waits_for);
	struct wefti_mutex *m = t->gives_up;
	struct wefti_node *node = &t->node;
	uint64_t seq;

	store_relaxed(&m->owner, NULL);
	seq = wefti_wait_begin_parked(t, wefti_cancel_flag(t) |
				      WEFTI_WAIT_SOLE);
	node->seq = seq;
	queue(&c->list, node);
	wefti_park_end_if_cancelled(t, wefti_ticket(t, seq));
	if (!hand_to_next(m))
		give_up(m);
}

/* For a wait with a deadline, of a foreign thread, or with a spare struct's node. */
static enum wefti_cause wait_armed(struct wefti_cond *c, struct wefti_mutex *m,
		struct wefti_thread *self, struct wefti_node *node,
		int64_t deadline)
{
	int timed = deadline != WEFT_FOREVER;
	uint64_t flags = wefti_cancel_flag(self) |
			 (timed ? WEFTI_WAIT_TIMED : 0);
	uint64_t seq = wefti_park_begin(self, flags, WEFTI_WHY_COND, c);

	node->seq = seq;
	queue(&c->list, node);
	give_up(m);
	/* The mutex was given up for a moment, even if the deadline is over already. */
	if (timed && deadline <= wefti_os_now_ns())
		wefti_wait_resolve(self, seq, WEFTI_CAUSE_TIMEDOUT);
	return wefti_park(self, deadline);
}

static int wait_inside(struct wefti_cond *c, struct wefti_mutex *m,
		       struct wefti_thread *self, int64_t deadline)
{
	struct wefti_node *node;
	enum wefti_cause cause;

	if (!wefti_mutex_is_mine(m, self))
		return -EPERM;
	if (wefti_is_cancelled(self))
		return -ECANCELED;
	node = wefti_node_get(self);
	if (!node)
		return -ENOMEM;
	if (load_relaxed(&c->mutex) != m)
		store_relaxed(&c->mutex, m);
	self->gives_up = m;	/* I4: valid while `why` is COND */
	if (likely(deadline == WEFT_FOREVER) &&
	    likely(self->kind != WEFTI_KIND_FOREIGN) &&
	    likely(node == &self->node)) {
		cause = wefti_park_by(self, WEFTI_WHY_COND, c, post_wait);
	} else {
		cause = wait_armed(c, m, self, node, deadline);
	}
	return come_back(c, m, self, node, cause);
}

int weft_cond_wait_until(struct weft_cond *cond, struct weft_mutex *mutex,
			 int64_t deadline)
{
	struct wefti_thread *self = wefti_enter();
	int error = wait_inside(cond_of(cond), wefti_mutex_of(mutex), self,
				deadline);

	wefti_leave(self);
	return error;
}

int weft_cond_wait(struct weft_cond *cond, struct weft_mutex *mutex)
{
	return weft_cond_wait_until(cond, mutex, WEFT_FOREVER);
}

/*
 * node is the only waiter's; the caller has taken it. Returns 0 if its wait was over.
 */
static int wake_only(struct wefti_node *node)
{
	if (wefti_unpark_sole(node, WEFTI_CAUSE_SIGNALLED))
		return 1;
	wefti_node_let_out(node, WEFTI_NODE_OUT);
	return 0;
}

/* Tries once, while threads wait. Returns 1 when it is done. */
static int give_signals_once(struct wefti_waitlist *list, uint64_t *w,
			     uint64_t more)
{
	uint64_t was = *w;

	if (was & WEFTI_LIST_BUSY) {
		uint64_t left = was & WEFTI_LIST_COUNT;

		/* Beyond the maximum there is no thread left to wake. */
		left = more + left > WEFTI_LIST_COUNT ? WEFTI_LIST_COUNT :
							more + left;
		return cas_weak_release(&list->word, w,	/* P1 */
					(was & ~WEFTI_LIST_COUNT) | left);
	}
	if (wefti_waitlist_is_single(was)) {
		if (!cas_weak_acq_rel(&list->word, w, 0))	/* P1 */
			return 0;
		if (wake_only(wefti_waitlist_top(was)))
			return 1;
		*w = load_relaxed(&list->word);
		return 0;
	}
	if (!cas_weak_acq_rel(&list->word, w,	/* P1 */
			      wefti_waitlist_taken(was)))
		return 0;
	wefti_waitlist_serve(list, was | more, &ops);
	return 1;
}

static NOINLINE int give_signals(struct wefti_waitlist *list, uint64_t more)
{
	struct wefti_thread *self = wefti_enter();
	uint64_t w = load_relaxed(&list->word);

	while ((w & WEFTI_LIST_QUEUED) && !give_signals_once(list, &w, more))
		;
	wefti_leave(self);
	return 0;
}

int weft_cond_signal(struct weft_cond *cond)
{
	struct wefti_waitlist *list = &cond_of(cond)->list;

	/* A thread that it must wake queued before it gave the mutex to the caller. */
	if (!(load_relaxed(&list->word) & WEFTI_LIST_QUEUED))
		return 0;
	return give_signals(list, WEFTI_LIST_ONE);
}

int weft_cond_broadcast(struct weft_cond *cond)
{
	struct wefti_waitlist *list = &cond_of(cond)->list;

	if (!(load_relaxed(&list->word) & WEFTI_LIST_QUEUED))
		return 0;
	return give_signals(list, WEFTI_LIST_COUNT);
}

int weft_cond_destroy(struct weft_cond *cond)
{
	uint64_t w = load_acquire(&cond_of(cond)->list.word);	/* P1 */

	return w & WEFTI_LIST_QUEUED ? -EBUSY : 0;
}
