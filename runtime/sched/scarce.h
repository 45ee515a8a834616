/* SPDX-License-Identifier: MIT */
/* sched/scarce.h - VCPUs whose CPU the kernel has given to another program */
#ifndef WEFT_SCHED_SCARCE_H
#define WEFT_SCHED_SCARCE_H

#include "sched/vcpu.h"

/*
 * By the monitor, of a VCPU that does not idle. If it makes no switch now, the
 * thread in its `next` is for others, who were not told of each one: it computes,
 * or is blocked, or has lost its CPU.
 */
void wefti_scarce_look(struct wefti_vcpu *v);

/*
 * By the monitor, who has seen the wake-ups up to `seen`, between two looks at
 * everything: while CPUs are scarce, looks as above until shortly before until_ns.
 */
void wefti_scarce_wait(uint32_t seen, int64_t until_ns);

void wefti_scarce_start(void);

#endif
