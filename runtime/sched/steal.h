/* SPDX-License-Identifier: MIT */
/* sched/steal.h - a VCPU looks through the queues of other VCPUs */
#ifndef WEFT_SCHED_STEAL_H
#define WEFT_SCHED_STEAL_H

#include "sched/vcpu.h"

/* Returns a thread that v can run, or NULL after a bounded search. */
struct wefti_thread *wefti_steal(struct wefti_vcpu *v);

/* Called when v is idle no more, after a search or not. */
void wefti_steal_note_idled(struct wefti_vcpu *v);

/*
 * Looks at one other VCPU. Called by a VCPU that is not searching, for a thread that
 * does nothing but yield. Returns a thread or NULL; more threads may have come into v's
 * queues, even if it returns NULL. The caller puts the returned thread there too, and
 * then calls wefti_idle_announce().
 */
struct wefti_thread *wefti_steal_glance(struct wefti_vcpu *v);

/*
 * Takes up to n threads, n > 0, from the head of from's ring, then from its parents. The
 * oldest is returned, or NULL; the others are pushed behind v's. The caller owns v, puts
 * a thread there for the one that is returned, and then calls wefti_idle_announce().
 */
struct wefti_thread *wefti_steal_share(struct wefti_vcpu *v, struct wefti_vcpu *from,
				       unsigned n);

#endif
