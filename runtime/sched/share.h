/* SPDX-License-Identifier: MIT */
/* sched/share.h - how much CPU time the threads that compute have had */
#ifndef WEFT_SCHED_SHARE_H
#define WEFT_SCHED_SHARE_H

#include "sched/vcpu.h"

/*
 * How much less CPU time t had at the begin of its turn than the threads of all VCPUs, in
 * ns; negative: it had more. 0 if it has not only computed lately. From any kernel thread.
 */
int64_t wefti_share_lag(struct wefti_thread *t);

/* The same, compared with the threads of v alone. */
int64_t wefti_share_lag_on(const struct wefti_vcpu *v, struct wefti_thread *t);

/*
 * Called by the monitor: the CPU time in ns that t, which runs on v, gets on top of its
 * slice of so many ns.
 */
int64_t wefti_share_owed(const struct wefti_vcpu *v, struct wefti_thread *t,
			 int64_t slice_ns);

/*
 * The thread with this body has used so much CPU time in its turn on v. Called by the
 * kernel thread that carries v.
 */
void wefti_share_charge(struct wefti_vcpu *v, struct wefti_cold *body, int64_t used_ns);

/* The same, by the thread itself, for the slice that is over. */
void wefti_share_end(struct wefti_vcpu *v, struct wefti_cold *body);

#endif
