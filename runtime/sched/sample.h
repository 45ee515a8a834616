/* SPDX-License-Identifier: MIT */
/*
 * sched/sample.h - what the monitor counts at each of its looks
 *
 * How long each VCPU was busy, and how many threads waited for a VCPU. For a while after
 * somebody has asked for it, the monitor also counts how long each thread was seen to run.
 * Nothing is counted at a switch.
 */
#ifndef WEFT_SCHED_SAMPLE_H
#define WEFT_SCHED_SAMPLE_H

#include "sched/vcpu.h"

/* Called by the monitor, at the begin of a look. */
void wefti_sample_begin(int64_t now);

/* Called by the monitor at each look, for each VCPU. */
void wefti_sample(const struct wefti_vcpu *v, int is_idle);

/* Called before the monitor runs: nothing has been counted yet. */
void wefti_sample_start(void);

/* Called by the monitor, before it sleeps: the next look stands for no time. */
void wefti_sample_pause(void);

/* When the monitor began to look (CLOCK_MONOTONIC, ns). */
int64_t wefti_sample_since(void);

/* How long v was busy, in ns, by the looks so far. */
uint64_t wefti_sample_busy_ns(const struct wefti_vcpu *v);

/* The sum of the times that threads were ready, in ns, by the looks so far. */
uint64_t wefti_sample_ready_ns(void);

/* Threads are counted until then (CLOCK_MONOTONIC, ns). */
void wefti_sample_threads(int64_t until);

#define WEFTI_SAMPLED_MOST	256

/*
 * Reads entry i of the threads that were seen to run: for how long, in ns. Returns the
 * thread's id, or 0: there is none. The thread may have ended. An entry that was used for
 * a thread that ran less goes to a new one, which begins at 0.
 */
uint64_t wefti_sample_thread(unsigned i, uint64_t *ns);

#endif
