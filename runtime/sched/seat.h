/* SPDX-License-Identifier: MIT */
/* sched/seat.h - into the runtime and out of it, and which thread holds the VCPU */
#ifndef WEFT_SCHED_SEAT_H
#define WEFT_SCHED_SEAT_H

#include <errno.h>

#include "cpu.h"
#include "sched/vcpu.h"

/* thread->attention; sched/seat.c has the argument */
#define WEFTI_SEAT_HELD		0u
#define WEFTI_SEAT_CONCEDED	2u
#define WEFTI_SEAT_TAKEN	1u	/* the bits above say which one: a stint */

/*
 * One stint of a thread on a VCPU: the VCPU's number and its count of switches, as far
 * as they fit. A thread ignores a TAKEN of an earlier stint. It would mistake it for
 * its own only after 2^22 switches between two instructions of the monitor.
 */
static inline uint32_t wefti_seat_taken(const struct wefti_vcpu *v)
{
	return (uint32_t)load_seq_cst(&v->ticks) << 10 | v->index << 2 |
	       WEFTI_SEAT_TAKEN;
}

/*
 * A full fence for which one side pays for both. The frequent side does: store; light;
 * load. The rare side does: store; heavy; load. One of the two sees the other.
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
int model_entry_fence __attribute__((weak));	/* 1 in a model of the entry */
#endif

/* Does the entry need a fence of its own, as the monitor makes no membarrier? */
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

/* The kernel may refuse membarrier from now on: from here on both sides make fences. */
void wefti_membarrier_forgo(void);

/*
 * Values of wefti_rt.fence_on_entry. SOON: the light side makes fences, the heavy side
 * still asks the kernel. FENCE: the heavy side does not either.
 */
#define WEFTI_FENCE_SOON	2
#define WEFTI_FENCE		1

struct wefti_thread *wefti_foreign_self(void);
void wefti_seat_lost(struct wefti_thread *self);

/* The calling thread, which may be foreign. For calls that need no VCPU. */
static inline struct wefti_thread *wefti_known_self(void)
{
	struct wefti_thread *self = wefti_self();

	return likely(self) ? self : wefti_foreign_self();
}

/*
 * Each function that uses the VCPU or may switch calls wefti_enter() first and
 * wefti_leave() at its end. Between the two the thread is not preempted, and keeps its
 * VCPU until it switches.
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
	/* P2: the next carrier of the VCPU sees all that was done to it. */
	store_release(&self->in_runtime, load_relaxed(&self->in_runtime) - 1);
	compiler_barrier();
}

/*
 * The same for a signal handler, which may not switch: the kernel thread would go on
 * with the handler's mask and alternate stack. The caller must not be inside the
 * runtime. Returns 0, or -EAGAIN: the VCPU is taken.
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
 * What wefti_self() is in a handler that interrupted its thread inside the runtime, or
 * that runs in a kernel thread without a struct. It is a foreign thread without a VCPU,
 * shared by all and written by none. It can make others ready, and cannot park.
 */
extern struct wefti_thread wefti_aside;

/*
 * For functions that may be called from handlers. Returns the argument for
 * wefti_leave_anywhere(); it may be NULL. wefti_self() is valid between the two.
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

/* Called by the monitor: takes the VCPU of a thread that runs user code. */
int wefti_seat_take(struct wefti_vcpu *v, struct wefti_thread *t, int64_t now);

#endif
