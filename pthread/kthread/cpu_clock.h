/* SPDX-License-Identifier: MIT */
/* pthread/kthread/cpu_clock.h - the CPU time of a green thread */
#ifndef WEFT_PTHREAD_KTHREAD_CPU_CLOCK_H
#define WEFT_PTHREAD_KTHREAD_CPU_CLOCK_H

#include <time.h>

/* Called by the first thread before the runtime starts, and when it has started. */
void wefti_cpu_clock_begin(void);
void wefti_cpu_clock_started(void);

/* In the child of a fork that a green thread made. */
void wefti_cpu_clock_forget(void);

/* Called by a green thread that begin_counting() has interrupted. */
void wefti_cpu_clock_count_self(void);

#endif
