/* SPDX-License-Identifier: MIT */
/* sched/steal.h - the searching VCPU looks through the others' queues */
#ifndef WEFT_SCHED_STEAL_H
#define WEFT_SCHED_STEAL_H

#include "sched/vcpu.h"

/* A thread that v can run, or NULL after a bounded search. */
struct wefti_thread *wefti_steal(struct wefti_vcpu *v);

#endif
