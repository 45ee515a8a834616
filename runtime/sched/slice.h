/* SPDX-License-Identifier: MIT */
/* sched/slice.h - how long a thread may run while others wait */
#ifndef WEFT_SCHED_SLICE_H
#define WEFT_SCHED_SLICE_H

#include "sched/vcpu.h"

/* Called by a thread that is preempted at pc. */
void wefti_slice_ends(struct wefti_cold *body, uintptr_t pc);

/*
 * Called by a thread that found the event for which it would have parked: it does not
 * only compute.
 */
static inline void wefti_slice_spared(struct wefti_vcpu *v)
{
	store_relaxed(&v->spared, load_relaxed(&v->spared) + 1);
}

/* Called by the monitor: v has made switches since it had seen_ticks. */
void wefti_slice_note_switches(struct wefti_vcpu *v, uint64_t ticks);

/* The whole slice of a thread of v, in ns; 0: it has no end. From any kernel thread. */
int64_t wefti_slice_whole(const struct wefti_vcpu *v);

/*
 * Called by the monitor: the slice of t on v, which runs it, in ns. 0: it has no end.
 */
int64_t wefti_slice_ns(const struct wefti_vcpu *v, struct wefti_thread *t);

/* Called by the monitor, which has just asked for the CPU time of v's kernel thread. */
static inline void wefti_slice_begin(struct wefti_vcpu *v)
{
	store_relaxed(&v->slice_cpu, v->seen_cpu);
}

/*
 * Called by the monitor: has t, which has run in v since v->seen_since, had its slice?
 */
int wefti_slice_is_over(const struct wefti_vcpu *v, struct wefti_thread *t,
			int64_t now);

/*
 * Called by the monitor: is t to be asked now for the end of its slice? Says yes at most
 * once in half a slice, or in look_ns if that is shorter.
 */
int wefti_slice_must_end(struct wefti_vcpu *v, struct wefti_thread *t, int64_t now,
			 int64_t look_ns);

#endif
