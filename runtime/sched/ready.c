/* SPDX-License-Identifier: MIT */
/*
 * sched/ready.c - threads that could run: in, and out again
 *
 * A VCPU has a slot `next` for the thread readied last, and its ring. `next`
 * makes a pair that wakes each other cheap; so that it starves nobody, the
 * monitor sets `resched` once a slice and the head of the ring gets its turn.
 *
 * Pairs
 *   P1  next is filled by xchg  ->  emptied by xchg or a thief's CAS: the
 *                                   thread's saved context
 */
#include "sched/ready.h"

#include "os/futex.h"
#include "sched/idle.h"
#include "sched/timer.h"

static void wake_foreign(struct wefti_thread *t)
{
	/* The low half of the wait word; it is no longer what was slept on. */
	wefti_os_futex_wake((_Atomic uint32_t *)(void *)&t->wait, 1);
}

void wefti_inject(struct wefti_thread *t)
{
	wefti_fifo_push(&wefti_rt.inject, t->fifo_node, t);
	wefti_idle_notify();
}

COLD void wefti_ready_common(struct wefti_thread *t)
{
	wefti_fifo_push(&wefti_rt.inject, t->fifo_node, t);
}

void wefti_ready(struct wefti_thread *t)
{
	struct wefti_vcpu *v = wefti_self()->vcpu;

	if (unlikely(t->kind == WEFTI_KIND_FOREIGN)) {
		wake_foreign(t);
		return;
	}
	if (unlikely(!v || v->shared)) {
		wefti_inject(t);
		return;
	}

	/* P1 */
	struct wefti_thread *old = xchg_seq_cst(&v->next, t);

	if (old) {
		wefti_ready_last(v, old);
		wefti_idle_notify();
	} else {
		wefti_idle_notify_next(v);
	}
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

struct wefti_thread *wefti_pick_injected(struct wefti_vcpu *v)
{
	uint32_t node;
	struct wefti_thread *t;

	(void)v;
	if (wefti_fifo_is_empty(&wefti_rt.inject))
		return NULL;
	t = wefti_fifo_pop(&wefti_rt.inject, &node);
	if (t)
		t->fifo_node = node;
	return t;
}

/* Every source that is not another VCPU, in an order that is fair. */
COLD struct wefti_thread *wefti_pick_slow(struct wefti_vcpu *v)
{
	struct wefti_thread *t;

	wefti_timers_run(v);
	t = wefti_pick_injected(v);
	if (!t && load_relaxed(&v->resched)) {
		store_relaxed(&v->resched, 0);
		t = wefti_ring_pop(&v->ring);
	}
	if (!t && load_relaxed(&v->next))
		t = xchg_acq_rel(&v->next, NULL);	/* P1 */
	if (!t)
		t = wefti_ring_pop(&v->ring);
	return t;
}
