/* SPDX-License-Identifier: MIT */
/* pthread/kthread/real_time.h - what a real-time policy does among green threads */
#ifndef WEFT_PTHREAD_KTHREAD_REAL_TIME_H
#define WEFT_PTHREAD_KTHREAD_REAL_TIME_H

#include "life/life.h"
#include "pthread/core/self.h"

/*
 * t, which other threads may know, has this priority from now on. 0: no real-time policy.
 * A thread that has ended is not counted.
 */
void wefti_real_time_count(struct wefti_thread *t, int priority);

/* In the child of a fork: there are no other threads. */
void wefti_real_time_forget(void);

/* When a new thread of this priority, which the caller is about to make, runs. */
enum wefti_spawn_order wefti_real_time_order(int priority);

/*
 * Does the caller keep its VCPU where another thread would yield? The first is called
 * inside the runtime, the second outside. If the second says no, the caller has to yield.
 */
int wefti_real_time_keeps(void);
int wefti_real_time_keeps_now(void);

/* t is new, and no other thread knows it. */
static inline void wefti_real_time_begin(struct wefti_thread *t, int priority)
{
	if (unlikely(priority > 0))
		wefti_real_time_count(t, priority);
}

/* The caller has ended, and has marked that. */
static inline void wefti_real_time_end(void)
{
	if (unlikely(load_seq_cst(&wefti_pt.real_time)))
		wefti_real_time_count(wefti_self(), 0);
}

#endif
