/* SPDX-License-Identifier: MIT */
/* sched/on_cpu.h - where threads are that use the CPU, for the recorder */
#ifndef WEFT_SCHED_ON_CPU_H
#define WEFT_SCHED_ON_CPU_H

/*
 * The kernel threads that carry VCPUs now are sampled, each `hz` times in a second of its
 * CPU time, while events are recorded. For others that were, nothing changes. One caller
 * at a time. Returns 0, or the kernel's error if it gives no timers.
 */
int wefti_on_cpu_sample(unsigned hz);

/* No kernel thread is sampled any more. */
void wefti_on_cpu_end(void);

/* In the child of a fork: no handler runs, and the timers are the parent's. */
void wefti_on_cpu_forget(void);

#endif
