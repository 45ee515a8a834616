/* SPDX-License-Identifier: MIT */
/* pthread/kthread/real_time.h - what a real-time policy does among green threads */
#ifndef WEFT_PTHREAD_KTHREAD_REAL_TIME_H
#define WEFT_PTHREAD_KTHREAD_REAL_TIME_H

#include "life/life.h"
#include "pthread/core/self.h"

/*
 * t, which others know, has this priority from now on; 0: no real-time policy.
 * One that has ended is not counted.
 */
void wefti_real_time_count(struct wefti_thread *t, int priority);

/* In the child of a fork: there are no others. */
void wefti_real_time_forget(void);

/* Of a thread of this priority that the caller is about to make. */
enum wefti_spawn_order wefti_real_time_order(int priority);

/*
 * Does the caller keep its VCPU, where another thread without a wait would give
 * way? Inside the runtime. The second is the same outside; if it says no, the
 * caller gives way to whom there is.
 */
int wefti_real_time_keeps(void);
int wefti_real_time_keeps_now(void);

/* t is new, and nobody knows it. */
static inline void wefti_real_time_begin(struct wefti_thread *t, int priority)
{
	if (unlikely(priority > 0))
		wefti_real_time_count(t, priority);
}

/* The caller has ended: that is marked already. */
static inline void wefti_real_time_end(void)
{
	if (unlikely(load_seq_cst(&wefti_pt.real_time)))
		wefti_real_time_count(wefti_self(), 0);
}

#endif
