/* SPDX-License-Identifier: MIT */
/* sched/ready_grow.h - larger arrays for a VCPU's ring */
#ifndef WEFT_SCHED_READY_GROW_H
#define WEFT_SCHED_READY_GROW_H

#include "base/compiler.h"
#include "sched/vcpu.h"

/* v is new: it has no larger array, and the kernel has refused it none. */
void wefti_ready_grow_begin(struct wefti_vcpu *v);

/*
 * v's ring is full: it moves to the next larger array. Called by v's owner. Returns 0, or
 * -ENOMEM: the ring has its full size, or the kernel refuses the memory.
 */
MUST_USE int wefti_ready_grow(struct wefti_vcpu *v);

/* At the stop: nothing is in the ring of v any more. Unmaps the arrays. */
void wefti_ready_grow_end(struct wefti_vcpu *v);

#endif
