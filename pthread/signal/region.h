/* SPDX-License-Identifier: MIT */
/* pthread/signal/region.h - where a green thread may block in the kernel */
#ifndef WEFT_PTHREAD_SIGNAL_REGION_H
#define WEFT_PTHREAD_SIGNAL_REGION_H

#include <sys/types.h>

#include "life/few.h"
#include "pthread/core/self.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/interrupt.h"
#include "pthread/signal/signal.h"
#include "sched/preempt.h"
#include "weft/runtime.h"

/*
 * Only a call between begin_call() and end_call() ends by a cancellation, or by a handler
 * after which the kernel would restart it. Any other call in a region that has a timeout
 * waits no longer than this at once, and the caller looks for signals in between.
 */
#define WEFTI_WHILE_NS	200000000

/*
 * Does what weft_block_begin() does, or nothing if the caller has no VCPU to give away.
 * Signals for the thread interrupt its kernel thread (wefti_pt_urge()), and their
 * handlers run on top of the call.
 */
static inline void wefti_region_begin(void)
{
	if (!wefti_pt_green())
		return;
	weft_block_begin();
	wefti_signals_run_any();
}

/* Does what wefti_block_begin_few() does. */
static inline int wefti_region_begin_few(void)
{
	if (!wefti_pt_green())
		return 1;
	if (!wefti_block_begin_few())
		return 0;
	wefti_signals_run_any();
	return 1;
}

static inline void wefti_region_end(void)
{
	if (!wefti_pt_green())
		return;
	weft_block_end();
	wefti_signals_run_any();
}

/*
 * A region around one call. What `by` names ends the call with EINTR
 * (pthread/signal/interrupt.h). If the call has failed, the caller acts on a cancellation
 * behind the region. A cancellation that came before the region is insisted on again.
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

/*
 * A region around one call that is a cancellation point. end_point() gets the call's
 * result and returns it.
 */
static inline void wefti_region_begin_point(uint8_t by)
{
	wefti_cancel_point();
	wefti_region_begin_call(by);
}

static inline ssize_t wefti_region_end_point(ssize_t r)
{
	wefti_region_end_call();
	if (r < 0)
		wefti_cancel_point();
	return r;
}

#endif
