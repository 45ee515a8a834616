/* SPDX-License-Identifier: MIT */
/* sched/timer.h - deadlines of waits */
#ifndef WEFT_SCHED_TIMER_H
#define WEFT_SCHED_TIMER_H

#include "sched/vcpu.h"

/*
 * From now until wefti_timer_disarm(), the wait `seq` of self (which has begun) is
 * resolved as TIMEDOUT when the deadline passes. Called inside the runtime only. Not
 * for foreign threads, which use the futex's time-out.
 */
void wefti_timer_arm(struct wefti_thread *self, uint64_t seq, int64_t deadline);
void wefti_timer_disarm(struct wefti_thread *self);

/* Initializes a fresh struct wefti_timer. Its home is chosen at the first arm. */
void wefti_timer_init(struct wefti_timer *tm);

/* The same for a VCPU's heap: it is empty. */
void wefti_timers_init(struct wefti_timers *h);

/* Returns 1 when nothing refers to tm any more, so that it can be freed. */
int wefti_timer_is_free(const struct wefti_timer *tm);

/*
 * Runs what is due in the heap of v, unless another kernel thread does. Does not wait.
 */
void wefti_timers_run(struct wefti_vcpu *v);

/* The same for all VCPUs. */
void wefti_timers_run_all(void);

/* Called when the runtime stops: empties v's heap; nothing expires. */
void wefti_timers_drop(struct wefti_vcpu *v);

/* Is anything due on any VCPU? A heap that has a server is left out, here and below. */
int wefti_timers_due(void);

/* The earliest key of all VCPUs; INT64_MAX if there is none. */
int64_t wefti_timers_earliest(void);

/* Is any timer in a heap, with or without a server? */
int wefti_timers_any(void);

/* The keeper's sleep until the earliest deadline; see timer.c. */
int64_t wefti_timers_keep(void);
void wefti_timers_resign(void);

/*
 * Which session the server of v's heap is in; 0 if there is none. A new server may be
 * seen with its predecessor's number.
 */
uint64_t wefti_timers_session(struct wefti_vcpu *v);

#endif
