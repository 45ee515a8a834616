/* SPDX-License-Identifier: MIT */
/*
 * sched/ready.c - the ready threads: in, and out again
 *
 * A VCPU has a slot `next` for the thread that a wake-up or a spawn made ready most
 * recently; its ring, first in first out; and `parents`, last in first out. `next` makes a
 * pair of threads that wake each other cheap. So that it starves no thread, the monitor
 * sets `resched` at most once in half a slice. The thread in `next` then moves to the end of
 * the ring, and the VCPU takes the ring's head or an injected thread (a FIFO turn).
 *
 * A parent is in `next` until its child stops. If the child spawns, the parent moves to
 * `parents`, and runs when nothing else is ready here: threads that have begun run
 * before threads that would begin more. So a tree of threads that wait for each other
 * runs depth first, as a tree that only joins does. With parents in the ring, a million
 * leaves were alive at once. Where the ring is never empty, parents would starve; so
 * the oldest parent moves to the ring's end at each FIFO turn, and when none has run
 * for WEFTI_PARENT_TICKS. A spawn also takes a FIFO turn that is due (life/spawn.c). If `parents` is
 * full, the parent goes to the ring's end, and a FIFO turn is due at once. So in a chain,
 * where each thread spawns the next and then ends, about as many are alive as `parents` has
 * room for.
 *
 * With WEFT_SCHED=shared all VCPUs have one queue, inject. No hot path tests for that.
 * `next` holds WEFTI_NEXT_SHUT for good, so it is never filled; resched is never 0, so
 * each pick is a slow one; and post_yield is another function. WEFT_SCHED=explore is the same
 * with one VCPU, and draws a thread in the place of the oldest (sched/explore.c).
 *
 * Structure
 *   next     one thread; filled by the VCPU's owner, emptied by it or a thief
 *   ring     the ready threads, oldest first. A full one grows (sched/ready_grow.c), up
 *            to WEFTI_RING_MOST threads, and then overflows into inject
 *   parents  overtaken parents; the owner takes the newest, thieves the oldest
 *   inject   the injection queue of all VCPUs (lockfree/fifo.h)
 *   spent    the ring's position of the last thread whose slice was over: that thread is
 *            spent. A pop at the tail moves all positions, and no spent thread is found then
 *
 * States of a ready thread
 *   NEXT, QUEUED (ring), PARENT (parents), INJECTED
 *
 *   running, new, parked --wefti_ready_next--> NEXT
 *   running, new, parked --wefti_ready_last, _in_order--> QUEUED, or INJECTED if the
 *   ring cannot grow or the VCPUs share one queue (WEFT_SCHED=shared)
 *   parked --wefti_ready_in_order, if a spent thread is in the ring--> INJECTED
 *   parked, new --wefti_inject; wefti_ready, _in_order by a thread without a VCPU-->
 *   INJECTED
 *   running --wefti_ready_spent--> QUEUED, as by wefti_ready_last
 *   NEXT --another comes--> PARENT if both are parents and there is room, else QUEUED
 *   NEXT --FIFO turn--> QUEUED
 *   NEXT --a parent whose child has computed for a slice--> QUEUED
 *   PARENT --FIFO turn, WEFTI_PARENT_TICKS--> QUEUED
 *   NEXT, QUEUED, PARENT --a pick, a thief--> running
 *   INJECTED --a pick--> running
 *   NEXT, PARENT, QUEUED --wefti_take_back--> running
 *
 * Writers
 *   vcpu.next  wefti_ready_begin, wefti_ready_heir, wefti_ready_next,
 *       wefti_ready_next_behind, wefti_take_back, take_next, wefti_pick_own;
 *       steal.c: steal_next_of
 *   vcpu.next_lay  wefti_next_is_heir, wefti_next_lay
 *   vcpu.spent  wefti_ready_begin, wefti_ready_spent
 *   vcpu.resched  wefti_pick_slow, wefti_ready_begin, push_parent_last; monitor.c: ask_for_turn,
 *       end_slice_if_over; summons.c: wefti_summon
 *
 * Invariants
 *   I1  A ready thread is in one of the four places, or in the hands of the kernel
 *       thread that moves it.
 *   I2  Only the VCPU's owner fills `next`. So an empty `next` needs no RMW to be
 *       filled.
 *   I3  next_is_parent, injected_at and parent_at are the owner's. What a thief makes
 *       of `next` does not depend on them.
 *   I4  No place starves: each FIFO turn moves `next` and a parent behind the ring, and
 *       wefti_pick_slow() takes from inject and from the VCPU's own queues in turn. While
 *       a spent thread is in the ring, the VCPU's own threads have their turn at each FIFO
 *       turn and at each 64th switch.
 *
 * Linearization
 *   Ready: at the store to `next`, or at the push. Running: at the RMW that empties
 *   `next`, or at the pop. next_lay, spent and the lengths are hints and do not linearize.
 *
 * Progress
 *   Wait-free for `next`; else as the ring and the injection queue are
 *   (lockfree/ready_ring.h, lockfree/fifo.c). A kernel thread that is stopped between
 *   taking a thread and running it delays that thread only.
 *
 * ABA and reclamation
 *   `next` may get the same thread again between a thief's look and its CAS. The thread
 *   is then ready again, and taking it is right. Thread structs are type-stable.
 *
 * Pairs
 *   P1  `next` is filled by its VCPU  ->  emptied by xchg or CAS, by the owner or a
 *       thief: the thread's saved context
 *
 * Source
 *   `next` is as runnext in Go's scheduler; `parents` is ours.
 */
#include "sched/ready.h"

#include "os/call/futex.h"
#include "sched/explore.h"
#include "sched/idle.h"
#include "sched/monitor.h"
#include "sched/policy.h"
#include "sched/poller.h"
#include "sched/ready_grow.h"
#include "sched/summons.h"
#include "sched/timer.h"

void wefti_wake_foreign(struct wefti_thread *t)
{
	/* The low half of the wait word, which has changed since the sleep began. */
	wefti_os_futex_wake((_Atomic uint32_t *)(void *)&t->wait, 1);
}

/* The recorder has been told of t. */
static void inject(struct wefti_thread *t)
{
	wefti_fifo_push(&wefti_rt.inject, t->fifo_node, t);
	wefti_idle_announce();
	wefti_monitor_wake_if_asleep();	/* of idle.c: I4 */
}

void wefti_inject(struct wefti_thread *t)
{
	wefti_record_injected(wefti_recorder_vcpu(), t);
	inject(t);
}

COLD void wefti_ready_common(struct wefti_thread *t)
{
	wefti_fifo_push(&wefti_rt.inject, t->fifo_node, t);
}

/* The ring is full. It grows; if it cannot, t goes to the injection queue. */
static COLD void push_to_full(struct wefti_vcpu *v, struct wefti_thread *t)
{
	if (wefti_ready_grow(v) != 0 || wefti_ring_push(&v->ring, t) != 0)
		wefti_ready_common(t);
}

static inline void push_last(struct wefti_vcpu *v, struct wefti_thread *t)
{
	if (unlikely(wefti_ring_push(&v->ring, t) != 0))
		push_to_full(v, t);
}

void wefti_ready_last(struct wefti_vcpu *v, struct wefti_thread *t)
{
	if (v->shared)
		wefti_ready_common(t);
	else
		push_last(v, t);
}

/*
 * Runs on another stack than t's: t goes to the end of the queue. Wakes no VCPU, as there
 * is no more work than before.
 */
static void post_yield(struct wefti_thread *t)
{
	push_last(t->vcpu, t);
}

void wefti_ready_begin(struct wefti_vcpu *v, uint32_t shared)
{
	wefti_ring_init(&v->ring);
	wefti_ring_init(&v->parents);
	wefti_ready_grow_begin(v);
	store_relaxed(&v->spent, UINT32_MAX);	/* a position that the ring reaches late */
	v->shared = shared;
	v->post_yield = shared ? wefti_ready_common : post_yield;
	store_relaxed(&v->next, shared ? WEFTI_NEXT_SHUT : NULL);
	store_relaxed(&v->resched, shared ? WEFTI_LOOK_AGAIN : 0);
}

void wefti_ready(struct wefti_thread *t)
{
	struct wefti_vcpu *v = wefti_self()->vcpu;

	if (unlikely(t->kind == WEFTI_KIND_FOREIGN)) {
		wefti_record_ready_by_any(v, t);
		wefti_wake_foreign(t);
	} else if (unlikely(!v)) {
		wefti_inject(t);
	} else {
		wefti_ready_next(v, t, 0);
	}
}

/*
 * `parents` is full. Without a FIFO turn ever more parents would lie in the ring behind the
 * threads that t spawns. So the next spawn, or pick, takes one.
 */
static COLD void push_parent_last(struct wefti_vcpu *v, struct wefti_thread *t)
{
	push_last(v, t);
	store_relaxed(&v->resched, WEFTI_FIFO_TURN);
}

/*
 * The older thread in `next`, if it is still there, moves to where every VCPU can steal
 * it. Only a parent may wait until the ring is empty (see the head). A thread that was woken
 * has its turn.
 */
NOINLINE void wefti_ready_next_behind(struct wefti_vcpu *v,
				      struct wefti_thread *t,
				      uint32_t is_parent)
{
	uint32_t was_parent = v->next_is_parent;
	struct wefti_thread *old;

	if (v->shared) {
		inject(t);
		return;
	}
	v->next_is_parent = is_parent;
	old = xchg_seq_cst(&v->next, t);	/* P1 */
	if (!old) {	/* a thief took the old one meanwhile */
		wefti_idle_announce_next(v);
		return;
	}
	if (was_parent && !is_parent)
		wefti_ready_overtaken(v, old);
	if (!is_parent || !was_parent)
		push_last(v, old);
	else if (unlikely(wefti_ring_push(&v->parents, old) != 0))
		push_parent_last(v, old);
	wefti_idle_announce();
}

void wefti_ready_spent(struct wefti_vcpu *v, struct wefti_thread *t)
{
	const uint64_t w = load_relaxed(&v->ring.word);

	store_relaxed(&v->spent, wefti_ring_word_position(w, wefti_ring_word_len(w)));
	wefti_ready_last(v, t);
}

int wefti_ready_has_spent(const struct wefti_vcpu *v)
{
	const uint64_t w = load_relaxed(&v->ring.word);

	return load_relaxed(&v->spent) - wefti_ring_word_position(w, 0) <
	       wefti_ring_word_len(w);
}

void wefti_ready_in_order(struct wefti_thread *t)
{
	struct wefti_vcpu *v = wefti_self()->vcpu;

	if (!v || v->shared || wefti_ready_has_spent(v)) {
		wefti_inject(t);
		return;
	}
	wefti_record_ready(v, t);
	push_last(v, t);
	wefti_idle_announce();
}

/* Takes an item of the injection queue: a thread, or the summons of one. */
static struct wefti_thread *take(void *item, uint32_t node)
{
	struct wefti_thread *t = item;

	if (unlikely(wefti_summons_is(item)))
		return wefti_summons_answer(item, node);
	t->fifo_node = node;
	return t;
}

struct wefti_thread *wefti_pick_injected(struct wefti_vcpu *v)
{
	struct wefti_thread *t = NULL;
	uint32_t node;
	void *item;

	while (!t && !wefti_fifo_is_empty(&wefti_rt.inject) &&
	       (item = wefti_fifo_pop(&wefti_rt.inject, &node)))
		t = take(item, node);
	if (t)
		v->injected_at = load_relaxed(&v->ticks);
	return t;
}

static struct wefti_thread *take_next(struct wefti_vcpu *v)
{
	return load_relaxed(&v->next) ? xchg_acq_rel(&v->next, NULL) /* P1 */ : NULL;
}

/*
 * A FIFO turn: the thread in `next` goes to the end; the longest-waiting thread runs.
 */
static void queue_next(struct wefti_vcpu *v)
{
	struct wefti_thread *t = take_next(v);

	if (!t)
		return;
	if (v->next_is_parent)
		wefti_ready_overtaken(v, t);
	push_last(v, t);
}

void wefti_ready_outlasted(struct wefti_vcpu *v)
{
	struct wefti_thread *parent = v->next_is_parent ? take_next(v) : NULL;

	if (!parent)
		return;
	parent->cold->overtaken = WEFTI_OVERTAKEN_MOST;
	parent->cold->overtaken_at = 0;	/* long ago: the child lasts */
	push_last(v, parent);
}

/* The oldest parent goes to the end of the ring. */
static void queue_parent(struct wefti_vcpu *v)
{
	struct wefti_thread *t = wefti_ring_pop(&v->parents);

	v->parent_at = load_relaxed(&v->ticks);
	if (t)
		push_last(v, t);
}

/*
 * Takes an injected thread, if it is the injection queue's turn. While a spent thread is in
 * the ring, injected threads keep their turns until the next FIFO turn or LOOK_AROUND (I4).
 */
static struct wefti_thread *pick_injected_in_turn(struct wefti_vcpu *v, int fifo_turn)
{
	const uint64_t ticks = load_relaxed(&v->ticks);

	if (ticks - v->injected_at > 1 ||
	    (!fifo_turn && ticks % WEFTI_LOOK_AROUND != 0 && wefti_ready_has_spent(v)))
		return wefti_pick_injected(v);
	return NULL;
}

/*
 * Looks in every source except other VCPUs, in an order in which none starves: where
 * threads run until their slice is over, each pick may be a slow one. As long as threads
 * are in the injection queue, each pick is a slow one, so that they take turns with the
 * VCPU's own threads.
 */
COLD struct wefti_thread *wefti_pick_slow(struct wefti_vcpu *v)
{
	const int fifo_turn = load_relaxed(&v->resched) == WEFTI_FIFO_TURN;
	struct wefti_thread *t;

	wefti_timers_run(v);
	if (load_relaxed(&v->ticks) % WEFTI_LOOK_AROUND == 0)
		wefti_poller_poll();
	if (v->shared) {
		if (v->shared == WEFTI_SHARED_EXPLORED) {
			store_relaxed(&v->resched, WEFTI_FIFO_TURN);
			return wefti_explore_pick(v);
		}
		store_relaxed(&v->resched, WEFTI_LOOK_AGAIN);
		return wefti_pick_injected(v);
	}
	if (fifo_turn) {
		queue_next(v);
		queue_parent(v);
	} else if (load_relaxed(&v->ticks) - v->parent_at > WEFTI_PARENT_TICKS) {
		queue_parent(v);
	}
	if (unlikely(wefti_ring_is_grown(&v->ring)))
		wefti_ring_shrink(&v->ring);
	t = pick_injected_in_turn(v, fifo_turn);
	store_relaxed(&v->resched, wefti_fifo_is_empty(&wefti_rt.inject) ?
				   0 : WEFTI_LOOK_AGAIN);
	if (!t)
		t = wefti_pick_own(v);
	return t ? t : wefti_pick_injected(v);
}
