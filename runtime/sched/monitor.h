/* SPDX-License-Identifier: MIT */
/* sched/monitor.h - the kernel thread that watches the VCPUs */
#ifndef WEFT_SCHED_MONITOR_H
#define WEFT_SCHED_MONITOR_H

#include "base/compiler.h"
#include "sched/vcpu.h"

int wefti_monitor_start(void);
void wefti_monitor_stop(void);

/* A VCPU leaves idle: the monitor must be awake while any VCPU is busy. */
COLD void wefti_monitor_wake(void);

/* A thread may soon block in the kernel: look again within microseconds. */
static inline void wefti_monitor_hurry(void)
{
	if (load_relaxed(&wefti_rt.monitor_hurry))
		return;
	store_seq_cst(&wefti_rt.monitor_hurry, 1);
	wefti_monitor_wake();
}

/*
 * Called by the monitor before it sleeps because all VCPUs idle and no timer is armed.
 * A layer above sets it; NULL: none. Must not wait.
 */
typedef void wefti_quiet_fn(void);

extern _Atomic(wefti_quiet_fn *) wefti_monitor_quiet;

#define WEFTI_MONITOR_ASLEEP	1u

static inline void wefti_monitor_wake_if_asleep(void)
{
	if (unlikely(load_seq_cst(&wefti_rt.monitor_asleep)))	/* P1 */
		wefti_monitor_wake();
}

#endif
