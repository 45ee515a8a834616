/* SPDX-License-Identifier: MIT */
/*
 * os/signal/cpu_timer.h - a signal each time a kernel thread has used the CPU for so long
 *
 * The signal is the preemption signal, since no kernel thread of the runtime blocks it,
 * and no program uses it for timers of its own. SIGPROF may be the program's.
 */
#ifndef WEFT_OS_SIGNAL_CPU_TIMER_H
#define WEFT_OS_SIGNAL_CPU_TIMER_H

#include <stdint.h>

#include "os/signal/signal.h"

/*
 * Called on the kernel thread, on its alternate stack if it has one, whatever runs. All
 * signals but faults are blocked.
 */
void wefti_os_cpu_timer_handler(wefti_os_handler *handler);

/*
 * Returns the timer's number or a negative errno value. It does not end by itself, but
 * is quiet once the kernel thread has ended.
 */
int wefti_os_cpu_timer_start(int tid, int64_t every_ns);
void wefti_os_cpu_timer_end(int timer);

/* Called in the preemption signal's handler: is it a signal of such a timer? */
int wefti_os_cpu_timer_is(const siginfo_t *info);
void wefti_os_cpu_timer_run(int signal, siginfo_t *info, void *context);

#endif
