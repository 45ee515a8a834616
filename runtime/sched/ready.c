/* SPDX-License-Identifier: MIT */
/*
 * sched/ready.c - threads that could run: in, and out again
 *
 * A VCPU has a slot `next` for the thread readied last, its ring, first in first
 * out, and `parents`, last in first out. `next` makes a pair that wakes each
 * other cheap; so that it starves nobody, the monitor sets `resched` once a
 * slice, `next` moves to the end of the ring, and the head of the ring gets its
 * turn.
 *
 * A parent is in `next` until its child stops. If the child spawns, it goes to
 * `parents`, and runs when nothing else is ready here: whoever has begun comes
 * before what would begin more. So a tree of threads that wait for each other
 * is run depth first, as one that only joins; with parents in the ring, a million
 * leaves lived at once. Where the ring is never empty parents would starve; so
 * the oldest moves to the ring's end at each FIFO turn, and when none has run
 * for PARENT_TICKS.
 *
 * Writers
 *   vcpu.next  pick_own, queue_next, wefti_pick, wefti_ready_heir,
 *       wefti_ready_next, wefti_ready_next_behind, wefti_take_back;
 *       steal.c: steal_next_of
 *   vcpu.next_lay  wefti_next_is_heir, wefti_next_lay
 *   vcpu.resched  wefti_pick_slow; monitor.c: ask_for_turn, look_at;
 *       summons.c: wefti_summon
 *
 * Pairs
 *   P1  next is filled by its VCPU  ->  emptied by xchg or CAS, also a thief's:
 *                                   the thread's saved context
 */
#include "sched/ready.h"

#include "os/call/futex.h"
#include "sched/idle.h"
#include "sched/monitor.h"
#include "sched/poller.h"
#include "sched/summons.h"
#include "sched/timer.h"

#define PARENT_TICKS	(4 * WEFTI_LOOK_AROUND)

void wefti_wake_foreign(struct wefti_thread *t)
{
	/* The low half of the wait word; it is no longer what was slept on. */
	wefti_os_futex_wake((_Atomic uint32_t *)(void *)&t->wait, 1);
}

void wefti_inject(struct wefti_thread *t)
{
	wefti_fifo_push(&wefti_rt.inject, t->fifo_node, t);
	wefti_idle_notify();
	wefti_monitor_stir();	/* of idle.c: I4 */
}

COLD void wefti_ready_common(struct wefti_thread *t)
{
	wefti_fifo_push(&wefti_rt.inject, t->fifo_node, t);
}

void wefti_ready(struct wefti_thread *t)
{
	struct wefti_vcpu *v = wefti_self()->vcpu;

	if (unlikely(t->kind == WEFTI_KIND_FOREIGN))
		wefti_wake_foreign(t);
	else if (unlikely(!v))
		wefti_inject(t);
	else
		wefti_ready_next(v, t, 0);
}

/*
 * The older thread in `next`, if it is still there, is for all to steal. Only a
 * parent may have to wait for all others, and only for what it began: who was
 * woken has its turn.
 */
NOINLINE void wefti_ready_next_behind(struct wefti_vcpu *v,
				      struct wefti_thread *t,
				      uint32_t is_parent)
{
	uint32_t was_parent = v->next_is_parent;
	struct wefti_thread *old;

	if (v->shared) {
		wefti_inject(t);
		return;
	}
	v->next_is_parent = is_parent;
	old = xchg_seq_cst(&v->next, t);	/* P1 */
	if (!old) {	/* stolen meanwhile */
		wefti_idle_notify_next(v);
		return;
	}
	if (was_parent && !is_parent)
		wefti_ready_overtaken(old);
	if (!is_parent || !was_parent || wefti_ring_push(&v->parents, old) != 0)
		wefti_ready_last(v, old);
	wefti_idle_notify();
}

void wefti_ready_in_order(struct wefti_thread *t)
{
	struct wefti_vcpu *v = wefti_self()->vcpu;

	if (!v || v->shared) {
		wefti_inject(t);
		return;
	}
	wefti_ready_last(v, t);
	wefti_idle_notify();
}

/* What has come by the injection queue: a thread, or a summons of one. */
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

static struct wefti_thread *pick_own(struct wefti_vcpu *v)
{
	struct wefti_thread *t = NULL;

	if (load_relaxed(&v->next))
		t = xchg_acq_rel(&v->next, NULL);	/* P1 */
	if (!t)
		t = wefti_ring_pop(&v->ring);
	return t ? t : wefti_pick_parent(v);
}

/* A FIFO turn: who is in `next` goes to the end, whoever waits longest runs. */
static void queue_next(struct wefti_vcpu *v)
{
	struct wefti_thread *t = NULL;

	if (load_relaxed(&v->next))
		t = xchg_acq_rel(&v->next, NULL);	/* P1 */
	if (!t)
		return;
	if (v->next_is_parent)
		wefti_ready_overtaken(t);
	wefti_ready_last(v, t);
}

/* The oldest parent goes to the end of the ring. */
static void queue_parent(struct wefti_vcpu *v)
{
	struct wefti_thread *t = wefti_ring_pop(&v->parents);

	v->parent_at = load_relaxed(&v->ticks);
	if (t)
		wefti_ready_last(v, t);
}

/*
 * Every source that is not another VCPU, in an order in which none starves:
 * where threads run until their slice is over, each pick may be a slow one.
 * After a thread from the injection queue comes one of our own. With a ring that
 * may overflow into it again, the two go on taking turns.
 */
COLD struct wefti_thread *wefti_pick_slow(struct wefti_vcpu *v)
{
	struct wefti_thread *t = NULL;

	wefti_timers_run(v);
	if (load_relaxed(&v->ticks) % WEFTI_LOOK_AROUND == 0)
		wefti_poller_poll();
	if (load_relaxed(&v->resched) == WEFTI_FIFO_TURN) {
		queue_next(v);
		queue_parent(v);
	} else if (load_relaxed(&v->ticks) - v->parent_at > PARENT_TICKS) {
		queue_parent(v);
	}
	store_relaxed(&v->resched,
		      wefti_ring_len_hint(&v->ring) > WEFTI_RING_CAPACITY / 2 &&
		      !wefti_fifo_is_empty(&wefti_rt.inject) ?
		      WEFTI_LOOK_AGAIN : 0);
	if (load_relaxed(&v->ticks) - v->injected_at > 1)
		t = wefti_pick_injected(v);
	if (!t)
		t = pick_own(v);
	return t ? t : wefti_pick_injected(v);
}
