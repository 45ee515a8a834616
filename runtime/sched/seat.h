/* SPDX-License-Identifier: MIT */
/* sched/seat.h - into the runtime and out of it, and who holds the VCPU */
#ifndef WEFT_SCHED_SEAT_H
#define WEFT_SCHED_SEAT_H

#include <errno.h>

#include "cpu.h"
#include "sched/vcpu.h"

/* thread->attention; the argument is in sched/seat.c */
#define WEFTI_SEAT_HELD		0u
#define WEFTI_SEAT_CONCEDED	2u
#define WEFTI_SEAT_TAKEN	1u	/* and above it which one: a stint */

/*
 * One stint of a thread on a VCPU: the VCPU's number and its count of switches,
 * as far as they fit. A TAKEN of an earlier stint is none of the thread's
 * business; it would be mistaken after 2^22 switches between two instructions
 * of the monitor.
 */
static inline uint32_t wefti_seat_taken(const struct wefti_vcpu *v)
{
	return (uint32_t)load_seq_cst(&v->ticks) << 10 | v->index << 2 |
	       WEFTI_SEAT_TAKEN;
}

/*
 * A full fence of which one side pays for both: store; light; load here, and
 * store; heavy; load there, by who comes seldom. One of the two sees the other.
 */
static inline void wefti_membarrier_light(void)
{
#if defined(WEFT_MODEL)
	fence_seq_cst();	/* P3 */
#else
	compiler_barrier();
	if (unlikely(load_relaxed(&wefti_rt.fence_on_entry)))
		fence_seq_cst();	/* P3 */
#endif
}

#if defined(WEFT_MODEL)
int model_entry_fence __attribute__((weak));	/* of a model of the entry: 1 */
#endif

/* With the monitor's membarrier. */
static inline int wefti_entry_fences(void)
{
	compiler_barrier();
#if defined(WEFT_MODEL)
	return model_entry_fence;
#else
	return load_relaxed(&wefti_rt.fence_on_entry) != 0;
#endif
}

void wefti_membarrier_heavy(void);

/* The kernel may not do it for us from now on: fences do, from here on. */
void wefti_membarrier_forgo(void);

/* wefti_rt.fence_on_entry: the light side fences, the heavy one still asks; no more. */
#define WEFTI_FENCE_SOON	2
#define WEFTI_FENCE		1

struct wefti_thread *wefti_foreign_self(void);
void wefti_seat_lost(struct wefti_thread *self);

/* The caller, which may be foreign; for what needs no VCPU. */
static inline struct wefti_thread *wefti_known_self(void)
{
	struct wefti_thread *self = wefti_self();

	return likely(self) ? self : wefti_foreign_self();
}

/*
 * Every function that uses the VCPU or can switch is between these two. Inside,
 * the thread is not preempted and keeps its VCPU until it switches.
 */
static inline struct wefti_thread *wefti_enter_as(struct wefti_thread *self)
{
	uint32_t depth = load_relaxed(&self->in_runtime);

	store_relaxed(&self->in_runtime, depth + 1);
	if (unlikely(wefti_entry_fences()))
		fence_seq_cst();	/* P1 */
	if (unlikely(load_relaxed(&self->attention)) && depth == 0)
		wefti_seat_lost(self);
	return self;
}

static inline struct wefti_thread *wefti_enter(void)
{
	return wefti_enter_as(wefti_known_self());
}

static inline void wefti_leave(struct wefti_thread *self)
{
	/* P2: who takes the VCPU sees all that was done to it. */
	store_release(&self->in_runtime, load_relaxed(&self->in_runtime) - 1);
	compiler_barrier();
}

/*
 * The same for a signal's handler, which may not switch: the kernel thread would
 * go on with the mask, and the alternate stack, of the handler. The caller is
 * not inside. Returns 0, or -EAGAIN: its VCPU is taken.
 */
static inline int wefti_try_enter(struct wefti_thread *self)
{
	store_relaxed(&self->in_runtime, 1);
	if (unlikely(wefti_entry_fences()))
		fence_seq_cst();	/* P1 */
	if (likely(!load_relaxed(&self->attention)))
		return 0;
	wefti_leave(self);
	return -EAGAIN;
}

/*
 * What a handler is that came while its thread was inside the runtime, or in a
 * kernel thread that has no struct: foreign, without a VCPU, shared by all, and
 * written to by none. So it can make others ready, and cannot park.
 */
extern struct wefti_thread wefti_aside;

/*
 * For functions that may be called from handlers. Returns what goes to
 * wefti_leave_anywhere(), which may be NULL. wefti_self() is valid between.
 */
static inline struct wefti_thread *wefti_enter_anywhere(void)
{
	struct wefti_thread *self = wefti_self();

	if (unlikely(!self) || load_relaxed(&self->in_runtime) ||
	    wefti_try_enter(self) != 0)
		wefti_self_set(&wefti_aside);
	return self;
}

static inline void wefti_leave_anywhere(struct wefti_thread *self)
{
	if (unlikely(wefti_self() == &wefti_aside))
		wefti_self_set(self);
	else
		wefti_leave(self);
}

/* The monitor: take the VCPU of a thread that runs user code. */
int wefti_seat_take(struct wefti_vcpu *v, struct wefti_thread *t, int64_t now);

#endif
