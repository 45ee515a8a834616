/* SPDX-License-Identifier: MIT */
/* pthread/signal/thread_timer.h - timers that send their signal to one green thread */
#ifndef WEFT_PTHREAD_SIGNAL_THREAD_TIMER_H
#define WEFT_PTHREAD_SIGNAL_THREAD_TIMER_H

#include <signal.h>
#include <time.h>

/* By the receiver, for one of its own signals. Returns 1 if a timer has sent it. */
int wefti_thread_timer_fired(const siginfo_t *info);

/*
 * The caller has taken a timer's signal: sets what timer_getoverrun() returns from now.
 */
void wefti_thread_timer_taken(const siginfo_t *info);

/* A clock on which the kernel can have no timer; 0: it can. */
int wefti_timer_error(clockid_t clock);

/* The system calls on timers. Returns 1: the timer is one of these, and it is done. */
int wefti_thread_timer_syscall(long number, const long *a, long *result);

void wefti_thread_timers_forget(void);	/* in the child of a fork */

#endif
