/* SPDX-License-Identifier: MIT */
/* sched/scarce.h - VCPUs that have lost their CPU to another program */
#ifndef WEFT_SCHED_SCARCE_H
#define WEFT_SCHED_SCARCE_H

#include "sched/vcpu.h"

/*
 * Called by the monitor for a VCPU that does not idle. If v makes no switch now, its
 * thread computes, or is blocked, or has lost its CPU. Then the thread in its `next` is
 * for other VCPUs, which were not told of each such thread.
 */
void wefti_scarce_help(struct wefti_vcpu *v);

/*
 * Called by the monitor between two looks at everything, when it has seen the wake-ups
 * up to `seen`. While CPUs are scarce, looks as above until shortly before until_ns.
 */
void wefti_scarce_wait(uint32_t seen, int64_t until_ns);

/* Called before the monitor runs: no CPU has been lost yet. */
void wefti_scarce_start(void);

#endif
