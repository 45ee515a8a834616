/* SPDX-License-Identifier: MIT */
/* sched/blocked.h - is the kernel thread that carries a VCPU blocked in the kernel? */
#ifndef WEFT_SCHED_BLOCKED_H
#define WEFT_SCHED_BLOCKED_H

#include "sched/vcpu.h"

enum wefti_blocked {
	WEFTI_GOES_ON,		/* or it has lost its CPU */
	WEFTI_BLOCKED,
	WEFTI_WANTS_LOCK,	/* that another kernel thread of ours gives back soon */
	WEFTI_RUNS_IN_REGION,	/* or waits for a CPU in it, or has just begun it */
};

/* Called before the monitor runs: nothing has been seen yet. */
void wefti_blocked_start(void);

/* Called by the monitor: v is seen to make progress now. */
void wefti_blocked_begin(struct wefti_vcpu *v, int64_t now);

/*
 * Called by the monitor for a VCPU that has made no switch since v->seen_since. Says
 * what its kernel thread has done since the last look. That was look_ns ago or more, or
 * less where looks come faster.
 */
enum wefti_blocked wefti_blocked_decide(struct wefti_vcpu *v, int64_t now,
					int64_t look_ns);

/*
 * Called by the monitor after each look, which took `taken` VCPUs from threads that were
 * blocked outside of regions. Shortens *next_look_ns if the next look must come sooner.
 */
void wefti_blocked_pace(unsigned taken, int64_t look_ns, int64_t *next_look_ns);

/*
 * Called by the monitor. BLOCKED or RUNS_IN_REGION if t is in an announced region, else
 * GOES_ON. Shortens *next_look_ns if the next look must come sooner.
 */
enum wefti_blocked wefti_blocked_in_region(struct wefti_vcpu *v,
					   struct wefti_thread *t, int64_t now,
					   int64_t *next_look_ns);

#endif
