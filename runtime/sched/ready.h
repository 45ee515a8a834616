/* SPDX-License-Identifier: MIT */
/* sched/ready.h - the ready threads: in, and out again */
#ifndef WEFT_SCHED_READY_H
#define WEFT_SCHED_READY_H

#include "sched/idle.h"
#include "sched/policy.h"
#include "sched/record.h"
#include "sched/vcpu.h"

struct wefti_thread *wefti_pick_slow(struct wefti_vcpu *v);
struct wefti_thread *wefti_pick_injected(struct wefti_vcpu *v);

/*
 * Parked or new -> ready, at the front of the caller's VCPU's queue (t runs when the
 * caller stops); or in the injection queue if the caller has no VCPU. A foreign thread
 * is woken. Called inside the runtime only.
 */
void wefti_ready(struct wefti_thread *t);

/*
 * The same, through the injection queue, for any VCPU to take. From any kernel thread.
 */
void wefti_inject(struct wefti_thread *t);

/* Wakes a foreign thread after its wait word has changed. */
void wefti_wake_foreign(struct wefti_thread *t);

/*
 * Parked -> ready, behind all others, but not behind a spent thread (below): for several
 * threads that are to keep their order.
 */
void wefti_ready_in_order(struct wefti_thread *t);

/*
 * A new VCPU gets queues of its own, or all have one together (WEFT_SCHED=shared).
 * shared: as vcpu->shared
 */
void wefti_ready_begin(struct wefti_vcpu *v, uint32_t shared);

/* For a ring that cannot grow, or WEFT_SCHED=shared: into the injection queue, unannounced. */
void wefti_ready_common(struct wefti_thread *t);

/*
 * Running or new -> ready, at the end of the queue of v, which is the caller's VCPU.
 * Does not announce it.
 */
void wefti_ready_last(struct wefti_vcpu *v, struct wefti_thread *t);

/* The same for a thread whose slice is over: it is spent. */
void wefti_ready_spent(struct wefti_vcpu *v, struct wefti_thread *t);

/*
 * Is the last spent thread of v still in the ring? The threads in front of it may compute,
 * too, and each then takes a slice before one behind it runs. A hint, for any kernel thread.
 */
int wefti_ready_has_spent(const struct wefti_vcpu *v);

/* A parent was put behind other threads of v before it was given its VCPU back. */
static inline void wefti_ready_overtaken(struct wefti_vcpu *v, struct wefti_thread *parent)
{
	/* The parent does not run now; only it counts this down, while it runs. */
	parent->cold->overtaken += WEFTI_OVERTAKEN_ONCE;
	parent->cold->overtaken_at = load_relaxed(&v->ticks);
}

/*
 * The slice of v's thread is over. If the thread's parent waits in `next`, the parent
 * goes to the end of the queue, and its next children go behind it: they are as likely
 * to compute for a slice. Called by the thread.
 */
void wefti_ready_outlasted(struct wefti_vcpu *v);

void wefti_ready_next_behind(struct wefti_vcpu *v, struct wefti_thread *t,
			     uint32_t is_parent);

/*
 * Makes the caller of a spawn, or a woken thread, ready at the front of the queue of v,
 * which is the caller's VCPU. Only the owner fills `next`, so an empty one needs no
 * RMW.
 */
static inline void wefti_ready_next(struct wefti_vcpu *v,
				    struct wefti_thread *t, uint32_t is_parent)
{
	if (!is_parent)	/* else its child's RUN says so */
		wefti_record_ready(v, t);
	if (unlikely(load_relaxed(&v->next))) {
		wefti_ready_next_behind(v, t, is_parent);
		return;
	}
	v->next_is_parent = is_parent;
	store_release(&v->next, t);	/* P1 */
	wefti_idle_announce_next(v);
}

/* As wefti_ready(), inline, for a caller that has its own struct at hand. */
static inline void wefti_ready_by(struct wefti_thread *self, struct wefti_thread *t)
{
#if defined(WEFT_MODEL)
	(void)self;
	wefti_ready(t);		/* the model's own */
#else
	struct wefti_vcpu *v = self->vcpu;

	if (unlikely(!v) || unlikely(t->kind == WEFTI_KIND_FOREIGN))
		wefti_ready(t);
	else
		wefti_ready_next(v, t, 0);
#endif
}

/* The same for a thread to which the caller has handed what many threads want. */
static inline void wefti_ready_heir(struct wefti_thread *t)
{
	struct wefti_vcpu *v = wefti_self()->vcpu;

	if (unlikely(!v) || unlikely(t->kind == WEFTI_KIND_FOREIGN) ||
	    unlikely(load_relaxed(&v->next))) {
		wefti_ready(t);
		return;
	}
	wefti_record_ready(v, t);
	v->next_is_parent = 0;
	store_release(&v->next, t);	/* P1 */
	wefti_idle_announce_heir(v);
}

/* Called by a thief: the thread that filled from's `next` went on computing. */
static inline void wefti_next_lay(struct wefti_vcpu *from)
{
	uint32_t lay = load_relaxed(&from->next_lay) + WEFTI_LAY_STEP;

	store_relaxed(&from->next_lay, lay < WEFTI_LAY_MANY ? lay :
				       WEFTI_LAY_MANY + WEFTI_LAY_TURNS);
}

/*
 * The caller has handed something that many threads want to the thread in v's `next`.
 * Should it give way to this heir? As long as the heir lies there, all threads that
 * come queue up. If each of them computes on as the caller does, they always will: a
 * convoy, in which each heir waits for a thief. next_lay counts recent heirs that
 * waited for a thief against those that did not. From WEFTI_LAY_MANY on, heirs run at
 * once, for WEFTI_LAY_TURNS, until the line is likely to be gone. next_lay is a guess:
 * the VCPU and a thief both load and store it, and one update may be lost.
 */
static inline int wefti_next_is_heir(struct wefti_vcpu *v)
{
	uint32_t lay = load_relaxed(&v->next_lay);

	if (likely(!lay))
		return 0;
	store_relaxed(&v->next_lay, lay == WEFTI_LAY_MANY + 1 ? 0 : lay - 1);
	return lay > WEFTI_LAY_MANY;
}

/*
 * Ready -> running, if the parent is still where wefti_ready_next() put it. A parent that
 * was overtaken is taken back once the thread that overtook it is gone, and no other thread
 * has come behind it.
 */
static inline int wefti_take_back(struct wefti_vcpu *v,
				  struct wefti_thread *parent)
{
	struct wefti_thread *next = load_relaxed(&v->next);

	if (likely(next) && likely(next == parent))
		/* P1: against thieves */
		return cas_acquire(&v->next, &next, NULL);
	if (wefti_ring_pop_tail_if(&v->parents, parent))
		return 1;
	if (next || wefti_ring_is_grown(&v->ring) ||
	    !wefti_ring_pop_tail_if(&v->ring, parent))
		return 0;
	parent->cold->overtaken_at = load_relaxed(&v->ticks);	/* not for long */
	return 1;
}

/* Takes the newest parent: no thread that has begun is ready. Or NULL. */
static inline struct wefti_thread *wefti_pick_parent(struct wefti_vcpu *v)
{
	v->parent_at = load_relaxed(&v->ticks);
	return wefti_ring_pop_tail(&v->parents);
}

/* The order in which a VCPU's own threads run. NULL: its own queues are empty. */
static ALWAYS_INLINE struct wefti_thread *wefti_pick_own(struct wefti_vcpu *v)
{
	struct wefti_thread *t;

	if (load_relaxed(&v->next)) {
		/* P1: against thieves */
		t = xchg_acq_rel(&v->next, NULL);
		if (likely(t))
			return t;
	}
	t = wefti_ring_pop(&v->ring);
	return t ? t : wefti_pick_parent(v);
}

/* Takes the next thread of this VCPU. NULL: its own queues are empty. */
static ALWAYS_INLINE struct wefti_thread *wefti_pick(struct wefti_vcpu *v)
{
	if (unlikely(load_relaxed(&v->ticks) % WEFTI_LOOK_AROUND == 0 ||
		     load_relaxed(&v->resched)))
		return wefti_pick_slow(v);
	return wefti_pick_own(v);
}

/* The same, or the scheduler loop of the kernel thread that carries v. */
static inline struct wefti_thread *wefti_pick_or_loop(struct wefti_vcpu *v)
{
	struct wefti_thread *next = wefti_pick(v);

	return next ? next : v->kthread->sched;
}

#endif
