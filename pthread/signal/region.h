/* SPDX-License-Identifier: MIT */
/* pthread/signal/region.h - where a green thread may block in the kernel */
#ifndef WEFT_PTHREAD_SIGNAL_REGION_H
#define WEFT_PTHREAD_SIGNAL_REGION_H

#include "life/few.h"
#include "pthread/core/self.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/interrupt.h"
#include "pthread/signal/signal.h"
#include "sched/preempt.h"
#include "weft/runtime.h"

/*
 * No call inside a region ends by a cancellation, and none that the kernel goes on with
 * by a handler, but those between begin_call() and end_call(). Where another has a
 * time, it is given no more than this one, and the caller looks in between.
 */
#define WEFTI_WHILE_NS	200000000

/*
 * As weft_block_begin(), and nothing where there is no VCPU to give away. Signals
 * for the thread interrupt its kernel thread (wefti_pt_urge()), their handlers run
 * on top.
 */
static inline void wefti_region_begin(void)
{
	if (!wefti_pt_green())
		return;
	weft_block_begin();
	wefti_signals_look();
}

/* As wefti_block_begin_few(). */
static inline int wefti_region_begin_few(void)
{
	if (!wefti_pt_green())
		return 1;
	if (!wefti_block_begin_few())
		return 0;
	wefti_signals_look();
	return 1;
}

static inline void wefti_region_end(void)
{
	if (!wefti_pt_green())
		return;
	weft_block_end();
	wefti_signals_look();
}

/*
 * The same around one call that those `by` end, with EINTR (pthread/signal/interrupt.h):
 * of a cancellation the caller is told by end_point(), or acts on it himself, behind the
 * region, if the call has failed. One that came before is insisted on again.
 */
static inline void wefti_region_begin_call(uint8_t by)
{
	wefti_pt.ends = by;
	wefti_region_begin();
	if (unlikely(wefti_pt_is_urgent(WEFTI_URGENT_CANCEL)) && wefti_pt_green())
		wefti_preempt_insist(wefti_self());
}

static inline void wefti_region_end_call(void)
{
	wefti_pt.ends = 0;
	wefti_region_end();
}

/* All of a function that is a cancellation point, and waits in that one call. */
#define WEFTI_POINT_IN_REGION(call)					\
	__typeof__(call) r_;						\
									\
	wefti_cancel_point();						\
	wefti_region_begin_call(WEFTI_ENDS);				\
	r_ = (call);							\
	wefti_region_end_call();					\
	if (r_ < 0)							\
		wefti_cancel_point();					\
	return r_

#endif
