/* SPDX-License-Identifier: MIT */
/* sched/ready.h - threads that could run: in, and out again */
#ifndef WEFT_SCHED_READY_H
#define WEFT_SCHED_READY_H

#include "sched/idle.h"
#include "sched/vcpu.h"

#define WEFTI_LOOK_AROUND	64	/* ticks between looks at all sources */

struct wefti_thread *wefti_pick_slow(struct wefti_vcpu *v);
struct wefti_thread *wefti_pick_injected(struct wefti_vcpu *v);

/*
 * Parked or new -> ready, in front of the caller's VCPU's queue (it runs when
 * the caller stops), or in the injection queue where there is no VCPU. Foreign
 * threads are woken. Inside the runtime only.
 */
void wefti_ready(struct wefti_thread *t);

/* The same from any kernel thread, to all VCPUs. */
void wefti_inject(struct wefti_thread *t);

/* The same for a foreign thread, whose wait word has changed. */
void wefti_wake_foreign(struct wefti_thread *t);

/* Parked -> ready, behind all others: for several that come in an order. */
void wefti_ready_in_order(struct wefti_thread *t);

/* The ring of v is full, or WEFT_SCHED=shared. */
void wefti_ready_common(struct wefti_thread *t);

/*
 * Running or new -> ready, at the end of the queue of v, which is the caller's.
 * Tells no other VCPU.
 */
static inline void wefti_ready_last(struct wefti_vcpu *v,
				    struct wefti_thread *t)
{
	if (unlikely(v->shared) || unlikely(wefti_ring_push(&v->ring, t) != 0))
		wefti_ready_common(t);
}

#define WEFTI_OVERTAKEN_ONCE	4	/* what one spawn without it takes back 1 of */

/* A parent was put behind others, and had not been given its VCPU back. */
static inline void wefti_ready_overtaken(struct wefti_thread *parent)
{
	/* Not running; it counts down itself. */
	parent->cold->overtaken += WEFTI_OVERTAKEN_ONCE;
}

void wefti_ready_next_behind(struct wefti_vcpu *v, struct wefti_thread *t,
			     uint32_t is_parent);

/*
 * The caller of a spawn, or a thread that was woken -> ready, in front of the
 * queue of v, which is the caller's. Nobody else fills `next`, so one that is
 * empty needs no RMW.
 */
static inline void wefti_ready_next(struct wefti_vcpu *v,
				    struct wefti_thread *t, uint32_t is_parent)
{
	if (unlikely(load_relaxed(&v->next)) || unlikely(v->shared)) {
		wefti_ready_next_behind(v, t, is_parent);
		return;
	}
	v->next_is_parent = is_parent;
	store_release(&v->next, t);	/* P1 */
	wefti_idle_notify_next(v);
}

/* The same for one that the caller has handed to what many want. */
static inline void wefti_ready_heir(struct wefti_thread *t)
{
	struct wefti_vcpu *v = wefti_self()->vcpu;

	if (unlikely(!v) || unlikely(t->kind == WEFTI_KIND_FOREIGN) ||
	    unlikely(load_relaxed(&v->next)) || unlikely(v->shared)) {
		wefti_ready(t);
		return;
	}
	v->next_is_parent = 0;
	store_release(&v->next, t);	/* P1 */
	wefti_idle_notify_heir(v);
}

#define WEFTI_LAY_STEP		4
#define WEFTI_LAY_MANY		16	/* then its heirs run at once, for */
#define WEFTI_LAY_TURNS		64	/* so many times */

/* By a thief: who made the thread in from's `next` ready went on computing. */
static inline void wefti_next_lay(struct wefti_vcpu *from)
{
	uint32_t lay = load_relaxed(&from->next_lay) + WEFTI_LAY_STEP;

	store_relaxed(&from->next_lay, lay < WEFTI_LAY_MANY ? lay :
				       WEFTI_LAY_MANY + WEFTI_LAY_TURNS);
}

/*
 * The caller has handed something that many want to the thread in v's `next`:
 * should it give way to its heir? As long as that lies there, all who come queue
 * up; and if each of them computes as it does, they always will: a convoy, in
 * which each heir waits for a thief. next_lay counts the heirs of late that had
 * to, against those that had not. From WEFTI_LAY_MANY on heirs run at once, for
 * WEFTI_LAY_TURNS, until the line is likely to be gone. A guess: the VCPU and a
 * thief both load and store, and one of the two may be lost.
 */
static inline int wefti_next_is_heir(struct wefti_vcpu *v)
{
	uint32_t lay = load_relaxed(&v->next_lay);

	if (likely(!lay))
		return 0;
	store_relaxed(&v->next_lay, lay == WEFTI_LAY_MANY + 1 ? 0 : lay - 1);
	return lay > WEFTI_LAY_MANY;
}

/* Ready -> running, if it is still where wefti_ready_next() put it. */
static inline int wefti_take_back(struct wefti_vcpu *v,
				  struct wefti_thread *parent)
{
	struct wefti_thread *next = load_relaxed(&v->next);

	if (likely(next) && likely(next == parent))
		/* P1: against thieves */
		return cas_acquire(&v->next, &next, NULL);
	return wefti_ring_pop_tail_if(&v->parents, parent) ||
	       wefti_ring_pop_tail_if(&v->ring, parent);
}

/* The newest of the parents: nothing that has begun is ready. Or NULL. */
static inline struct wefti_thread *wefti_pick_parent(struct wefti_vcpu *v)
{
	v->parent_at = load_relaxed(&v->ticks);
	return wefti_ring_pop_tail(&v->parents);
}

/* The next thread of this VCPU; NULL: its own queues are empty. */
static inline struct wefti_thread *wefti_pick(struct wefti_vcpu *v)
{
	struct wefti_thread *t;

	if (unlikely(load_relaxed(&v->ticks) % WEFTI_LOOK_AROUND == 0 ||
		     load_relaxed(&v->resched) || v->shared))
		return wefti_pick_slow(v);

	if (load_relaxed(&v->next)) {
		/* P1: against thieves */
		t = xchg_acq_rel(&v->next, NULL);
		if (likely(t))
			return t;
	}
	t = wefti_ring_pop(&v->ring);
	return t ? t : wefti_pick_parent(v);
}

/* The same, or the scheduler loop of the kernel thread that carries v. */
static inline struct wefti_thread *wefti_pick_or_loop(struct wefti_vcpu *v)
{
	struct wefti_thread *next = wefti_pick(v);

	return next ? next : v->kthread->sched;
}

#endif
