/* SPDX-License-Identifier: MIT */
/*
 * sched/explore.h - WEFT_SCHED=explore: which ready thread runs next is drawn by a seed
 *
 * There is one VCPU, and no slice ends. So the order of threads is decided by the draws here
 * and by nothing else, as long as no foreign thread, clock or descriptor decides anything.
 */
#ifndef WEFT_SCHED_EXPLORE_H
#define WEFT_SCHED_EXPLORE_H

#include "sched/vcpu.h"

/* At the start, with the settings: WEFT_SEED begins the draws. */
void wefti_explore_begin(void);
void wefti_explore_end(void);

/* Ready -> running: any thread of the injection queue. NULL: it is empty, or the caller goes on. */
struct wefti_thread *wefti_explore_pick(struct wefti_vcpu *v);

/* A choice of two, for what a clock says otherwise. Returns 0 or 1. */
int wefti_explore_any(void);

/* All threads are parked for good. is_told: a dump says so. May end the process. */
void wefti_explore_deadlock(int is_told);

/*
 * A point: the caller may give way here, if it is a thread of weft outside the runtime.
 * Called before each atomic operation of a program that is compiled with WEFT_PERTURB.
 */
void wefti_explore_point(void);

#endif
