/* SPDX-License-Identifier: MIT */
/* os/call/signal_timer.h - timers of the kernel that send one kernel thread a signal */
#ifndef WEFT_OS_CALL_SIGNAL_TIMER_H
#define WEFT_OS_CALL_SIGNAL_TIMER_H

#include <stdint.h>

/*
 * The signal has si_code SI_TIMER, and `mark` as its value. Returns the timer's number or
 * a negative errno value.
 */
int wefti_os_signal_timer_make(int clock, int tid, int signal, const void *mark);

/* every_ns: 0: once */
void wefti_os_signal_timer_set(int timer, int64_t first_ns, int64_t every_ns);
void wefti_os_signal_timer_delete(int timer);

#endif
