/* SPDX-License-Identifier: MIT */
/* sched/blocked.h - whether who carries a VCPU waits in the kernel */
#ifndef WEFT_SCHED_BLOCKED_H
#define WEFT_SCHED_BLOCKED_H

#include "sched/vcpu.h"

enum wefti_blocked {
	WEFTI_GOES_ON,		/* or has lost its CPU */
	WEFTI_BLOCKED,
	WEFTI_WANTS_LOCK,	/* which one of ours will give back soon */
	WEFTI_RUNS_IN_REGION,	/* or waits for a CPU in it, or has just begun it */
};

/* By the monitor: v is seen to go on now. */
void wefti_blocked_begin(struct wefti_vcpu *v, int64_t now);

/*
 * By the monitor, of a VCPU that has made no switch since v->seen_since: what it has
 * done since it was looked at last, look_ns ago or more.
 */
enum wefti_blocked wefti_blocked_look(struct wefti_vcpu *v, int64_t now,
				      int64_t look_ns);

/*
 * By the monitor: BLOCKED or RUNS_IN_REGION of one that is in an announced region, else
 * GOES_ON. Asks for the next look in time.
 */
enum wefti_blocked wefti_blocked_in_region(struct wefti_vcpu *v,
					   struct wefti_thread *t, int64_t now,
					   int64_t *next_look_ns);

#endif
