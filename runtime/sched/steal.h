/* SPDX-License-Identifier: MIT */
/* sched/steal.h - a VCPU looks through the others' queues */
#ifndef WEFT_SCHED_STEAL_H
#define WEFT_SCHED_STEAL_H

#include "sched/vcpu.h"

/* A thread that v can run, or NULL after a bounded search. */
struct wefti_thread *wefti_steal(struct wefti_vcpu *v);

/*
 * The same after a look at one other VCPU, by one that is not searching: its thread
 * does nothing but yield. More may have come into v's queues, also when it is NULL.
 * The caller puts the thread there, too, and then calls wefti_idle_notify().
 */
struct wefti_thread *wefti_steal_glance(struct wefti_vcpu *v);

#endif
