/* SPDX-License-Identifier: MIT */
/* sched/timer.h - deadlines of waits */
#ifndef WEFT_SCHED_TIMER_H
#define WEFT_SCHED_TIMER_H

#include "sched/vcpu.h"

/*
 * From now until wefti_timer_disarm(), the wait `seq` of self (which has begun)
 * is resolved as TIMEDOUT when deadline passes. Inside the runtime only; not
 * for foreign threads, which have the futex's time-out.
 */
void wefti_timer_arm(struct wefti_thread *self, uint64_t seq, int64_t deadline);
void wefti_timer_disarm(struct wefti_thread *self);

/* A fresh struct wefti_timer, for good: the home is chosen at the first arm. */
void wefti_timer_init(struct wefti_timer *tm);

/* Returns 1 when nothing refers to tm any more; it can be freed. */
int wefti_timer_is_free(const struct wefti_timer *tm);

/* Runs what is due in the heap of v, unless another does; no waiting. */
void wefti_timers_run(struct wefti_vcpu *v);

/* The same for all VCPUs. */
void wefti_timers_run_all(void);

/* The runtime stops: v's heap is emptied; nothing expires. */
void wefti_timers_drop(struct wefti_vcpu *v);

/* Is anything due on any VCPU? Not on those that are marked, here and below. */
int wefti_timers_due(void);

/* The earliest key of all VCPUs; INT64_MAX: none. */
int64_t wefti_timers_earliest(void);

/* Is any in a heap, also where one is marked? */
int wefti_timers_any(void);

/* The one who sleeps until the earliest deadline; see timer.c. */
int64_t wefti_timers_keep(void);
void wefti_timers_resign(void);

/*
 * Of the heap of v: which session its server is in, 0 when it has none. A new
 * server may be seen with the number of the one before.
 */
uint64_t wefti_timers_session(struct wefti_vcpu *v);

/* By the monitor alone: nobody waits for v's heap, until the mark is cleared. */
void wefti_timers_mark(struct wefti_vcpu *v, int is_stuck);

#endif
