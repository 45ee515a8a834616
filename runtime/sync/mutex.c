/* SPDX-License-Identifier: MIT */
/*
 * sync/mutex.c - the hand-off mutex
 *
 * Structure
 *   word   arrivals:60 | GRANT | QUEUED | WOKEN | LOCKED
 *          arrivals is the top of a stack of waiters' nodes, newest first
 *   list   waiters taken from the stack and reversed, oldest first; belongs to
 *          the owner of the mutex and goes with the ownership
 *   owner  who has it; a hint for all but the owner itself
 *
 *   LOCKED   somebody has it, or is handed it
 *   WOKEN    (adaptive) the head of the list has been woken to compete, and
 *            has neither taken the mutex nor parked again. Nobody else is woken
 *            meanwhile; nobody but that waiter touches the head of the list.
 *   QUEUED   list is not empty
 *   GRANT    (adaptive, with LOCKED and WOKEN) the woken waiter has it, once it
 *            looks
 *
 * States
 *   FREE       word & LOCKED == 0. Strict: word == 0 then
 *   OWNED      LOCKED
 *   GRANTED    LOCKED | GRANT
 *
 *   FREE --lock, try--> OWNED
 *   OWNED --unlock, no waiter--> FREE
 *   OWNED --unlock, hands over--> OWNED by the next
 *   OWNED --adaptive unlock--> FREE with WOKEN, head woken
 *   OWNED --adaptive unlock, head woken before and waits over 1 ms--> GRANTED
 *   GRANTED --woken waiter--> OWNED
 *
 * Invariants
 *   I1  A thread that finds it taken becomes a waiter in the same CAS: there is
 *       no moment at which it is counted but not queued.
 *   I2  list changes only by the owner. word == 0 implies list is empty, so a
 *       mutex that is free and has no waiters leaves nothing behind.
 *   I3  If there are waiters and the mutex is FREE, then WOKEN is set and one
 *       of them is on its way to the word. Hence no wake-up is lost.
 *   I4  A waiter takes the mutex only by its own CAS, by GRANT, or because its
 *       wait was resolved as HANDED; never because it merely runs.
 *   I5  After the CAS that clears LOCKED or sets GRANT, and after a resolve as
 *       HANDED, unlock does not touch the mutex: the next owner may free it.
 *       A resolve as WOKEN comes before the CAS that lets go, and the woken
 *       thread is made ready, by its type-stable struct, after it.
 *
 * Linearization
 *   lock: the CAS that sets LOCKED or clears GRANT, or the resolve as HANDED.
 *   unlock: the CAS that clears LOCKED or sets GRANT, or that resolve.
 *   A time-out: the resolve of the wait as TIMEDOUT; or, of a woken waiter, the
 *   CAS that clears WOKEN while another has the mutex.
 *
 * Progress
 *   Lock-free. Every failed CAS is another thread's success; an owner that meets
 *   waiters which timed out drops them, each once. A kernel thread stopped
 *   inside lock delays nobody: before its CAS it is nothing to others, after it
 *   it is a waiter. Stopped inside unlock it is an owner like one that was
 *   stopped in its critical section. Strict is starvation-free if owners
 *   unlock: the list is first in, first out.
 *
 * ABA and reclamation
 *   The stack is pushed to by CAS and taken whole by the owner alone, so a top
 *   that comes again has the same next. Nodes are in type-stable threads or on
 *   the heap, where only the owner who took them out frees them.
 *
 * Pairs
 *   P1  unlock's release (CAS, or resolve)  ->  lock's acquire: the user's data,
 *       list, owner
 *   P2  push of a node  ->  the owner takes the stack: the node's fields
 *   P3  WOKEN cleared by the waiter that parks again -> an owner sees it clear:
 *       the node's new seq
 *
 * Source
 *   A. Gidenstam, M. Papatriantafilou, "LFthreads", OPODIS 2007. There a
 *   fetch-and-add counts the locker and a queue takes it later; the unlocker
 *   that finds the count but not the waiter leaves a token, by which the
 *   responsibility is handed to whoever queues next. Count and queue in one
 *   word have no such gap, need no token (and no token's ABA), and let unlock
 *   keep away from the mutex once it has let go, as POSIX wants. What is kept
 *   is the principle: nobody waits for somebody who is between two steps, and
 *   the duty to wake goes with the ownership. See doc/design/runtime.md 7.
 *   The adaptive policy's limit of 1 ms is Go's (sync.Mutex).
 */
#include "sync/mutex.h"

#include <errno.h>

#include "os/clock.h"
#include "sched/park.h"
#include "sched/ready.h"
#include "sync/node.h"

#define LOCKED	WEFTI_MUTEX_LOCKED
#define WOKEN	UINT64_C(2)
#define QUEUED	UINT64_C(4)
#define GRANT	UINT64_C(8)
#define FLAGS	UINT64_C(15)

#define PATIENCE_NS	1000000		/* then unlock hands over (adaptive) */

static struct wefti_node *arrivals(uint64_t word)
{
	return (struct wefti_node *)(uintptr_t)(word & ~FLAGS);
}

/* A cheap clock where there is one; only differences are used. */
static uint64_t stamp(void)
{
	return wefti_os_cycles_are_reliable() ? wefti_arch_cycles() :
						(uint64_t)wefti_os_now_ns();
}

static int is_expired(const struct wefti_node *oldest)
{
	int64_t age = (int64_t)(stamp() - oldest->data);

	if (age > 0 && wefti_os_cycles_are_reliable())
		age = (int64_t)wefti_os_cycles_to_ns((uint64_t)age);
	return age >= PATIENCE_NS;
}

/* OWNED or FREE -> OWNED, or OWNED with one more waiter. 1: owner. */
static int take_or_queue(struct wefti_mutex *m, struct wefti_node *node)
{
	uint64_t w = load_relaxed(&m->word);

	for (;;) {
		if (!(w & LOCKED)) {
			if (cas_weak_acquire(&m->word, &w, w | LOCKED))	/* P1 */
				return 1;
			continue;
		}
		node->next = arrivals(w);
		if (cas_weak_release(&m->word, &w,	/* P2 */
				     (w & FLAGS) | (uint64_t)(uintptr_t)node))
			return 0;
	}
}

int wefti_mutex_take_if_free(struct wefti_mutex *m)
{
	uint64_t w = load_relaxed(&m->word);

	while (!(w & LOCKED))
		if (cas_weak_acquire(&m->word, &w, w | LOCKED))	/* P1 */
			return 1;
	return 0;
}

/*
 * The owner takes the arrivals into its empty list, in order, and says in word
 * whether the list is not empty.
 */
static void take_arrivals(struct wefti_mutex *m)
{
	uint64_t w = load_acquire(&m->word);	/* P2 */
	struct wefti_node *node, *list = NULL;

	while (!cas_weak_acquire(&m->word, &w,	/* P2 */
			(w & FLAGS & ~QUEUED) | (arrivals(w) ? QUEUED : 0)))
		;
	for (node = arrivals(w); node; ) {
		struct wefti_node *older = node->next;

		node->next = list;
		list = node;
		node = older;
	}
	m->list = list;
}

/* The head leaves the list; QUEUED follows before anybody else can own it. */
static void pop_head(struct wefti_mutex *m)
{
	m->list = m->list->next;
	if (!m->list)
		fetch_and_relaxed(&m->word, ~QUEUED);
}

/*
 * The new owner, which was woken to compete, is the head of the list still (only
 * it may touch the head while WOKEN is set).
 */
static void leave_list(struct wefti_mutex *m, struct wefti_node *node)
{
	WEFT_ASSERT(m->list == node, "the woken waiter is not the head");
	pop_head(m);
	wefti_node_drop(node);
}

/* OWNED -> OWNED by the head. Returns 0 if its wait was over: dropped. */
static int hand_to_head(struct wefti_mutex *m)
{
	struct wefti_node *head = m->list;
	struct wefti_thread *t = head->thread;
	uint64_t seq = head->seq;
	enum wefti_resolved was;

	pop_head(m);
	wefti_node_drop(head);
	was = wefti_wait_resolve(t, seq, WEFTI_CAUSE_HANDED);	/* P1 */
	/* I5: the mutex may be gone. */
	if (was == WEFTI_WAS_PARKED)
		wefti_ready(t);
	return was != WEFTI_LOST;
}

/* OWNED -> FREE; returns 0 if word is not exactly w any more. */
static int let_go(struct wefti_mutex *m, uint64_t w)
{
	return cas_release(&m->word, &w, w & ~LOCKED);	/* P1 */
}

/*
 * Nobody is on the way. Wakes the head to compete, then lets go. Returns 0 when
 * that has to be looked at again.
 */
static int wake_head(struct wefti_mutex *m)
{
	struct wefti_node *head = m->list;
	struct wefti_thread *t = head->thread;
	enum wefti_resolved was;
	uint64_t w;

	fetch_or_relaxed(&m->word, WOKEN);
	was = wefti_wait_resolve(t, head->seq, WEFTI_CAUSE_WOKEN);
	if (was == WEFTI_LOST) {
		fetch_and_relaxed(&m->word, ~WOKEN);
		pop_head(m);
		wefti_node_drop(head);
		return 0;
	}
	w = load_relaxed(&m->word);
	/* It may have run, found LOCKED and parked again: WOKEN is clear. */
	while (w & WOKEN)
		if (cas_weak_release(&m->word, &w, w & ~LOCKED)) {	/* P1 */
			if (was == WEFTI_WAS_PARKED)
				wefti_ready(t);
			return 1;
		}
	return 0;	/* so it was not parked, and is ready by itself */
}

/* One try of an unlock with waiters. Returns 1 when it is done. */
static int release_adaptive(struct wefti_mutex *m, uint64_t w)
{
	if (w & WOKEN) {
		if (!is_expired(m->list))
			return let_go(m, w);
		return cas_release(&m->word, &w, w | GRANT);	/* P1 */
	}
	if (is_expired(m->list))
		return hand_to_head(m);
	return wake_head(m);
}

NOINLINE void wefti_mutex_release_slow(struct wefti_mutex *m)
{
	for (;;) {
		uint64_t w = load_acquire(&m->word);	/* P3 */

		if (!(w & QUEUED)) {
			if (w == LOCKED) {
				if (let_go(m, w))
					return;
				continue;
			}
			take_arrivals(m);
			continue;
		}
		if (m->policy == WEFT_MUTEX_STRICT) {
			if (hand_to_head(m))
				return;
		} else if (release_adaptive(m, w)) {
			return;
		}
	}
}

void wefti_mutex_release(struct wefti_mutex *m, struct wefti_thread *self)
{
	uint64_t w = LOCKED;

	(void)self;
	store_relaxed(&m->owner, NULL);
	if (!cas_release(&m->word, &w, 0))	/* P1 */
		wefti_mutex_release_slow(m);
}

/*
 * A woken waiter, whose node is the head of the list and who alone may clear
 * WOKEN: takes the mutex, or parks again. Returns 1 as the owner, 0 when it has
 * to wait again, -1 when its time is over and it may go.
 */
static int compete(struct wefti_mutex *m, struct wefti_thread *self,
		   struct wefti_node *node, int64_t deadline)
{
	int timed = deadline != INT64_MAX;
	int late = timed && deadline <= wefti_os_now_ns();
	uint64_t w = load_relaxed(&m->word);

	/* Before WOKEN is cleared: from then on owners look at the node. */
	if (!late)
		node->seq = wefti_park_begin(self, timed ? WEFTI_WAIT_TIMED : 0,
					     WEFTI_WHY_MUTEX, m);
	for (;;) {
		if (w & GRANT) {
			if (cas_weak_acquire(&m->word, &w, w & ~(GRANT | WOKEN)))
				break;		/* P1 */
		} else if (!(w & LOCKED)) {
			if (cas_weak_acquire(&m->word, &w,
					     (w | LOCKED) & ~WOKEN))
				break;		/* P1 */
		} else if (cas_weak_release(&m->word, &w,	/* P3 */
					    w & ~WOKEN)) {
			return late ? -1 : 0;
		}
	}
	if (!late)
		wefti_park_end(self);
	leave_list(m, node);
	return 1;
}

int wefti_mutex_arrive(struct wefti_mutex *m, struct wefti_thread *self,
		       struct wefti_node *node, enum wefti_cause cause,
		       int64_t deadline)
{
	for (;;) {
		int won = 1;

		if (cause == WEFTI_CAUSE_TIMEDOUT)
			return -ETIMEDOUT;	/* the node is lent */
		if (cause == WEFTI_CAUSE_WOKEN)
			won = compete(m, self, node, deadline);
		if (won < 0)
			return -ETIMEDOUT;
		if (won) {
			store_relaxed(&m->owner, self);
			return 0;
		}
		cause = wefti_park(self, deadline);
	}
}

int wefti_mutex_take(struct wefti_mutex *m, struct wefti_thread *self,
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
	node->data = m->policy == WEFT_MUTEX_STRICT ? 0 : stamp();
	if (take_or_queue(m, node)) {
		wefti_park_end(self);
		wefti_node_drop(node);
		store_relaxed(&m->owner, self);
		return 0;
	}
	return wefti_mutex_arrive(m, self, node, wefti_park(self, deadline),
				  deadline);
}

void wefti_mutex_pass(struct wefti_mutex *m, struct wefti_node *node)
{
	struct wefti_thread *t = node->thread;
	uint64_t seq = node->seq;

	node->data = m->policy == WEFT_MUTEX_STRICT ? 0 : stamp();
	if (!take_or_queue(m, node))
		return;
	wefti_node_drop(node);
	wefti_unpark(t, seq, WEFTI_CAUSE_HANDED);
}
