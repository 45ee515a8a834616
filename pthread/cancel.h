/* SPDX-License-Identifier: MIT */
/* pthread/cancel.h - cancellation points */
#ifndef WEFT_PTHREAD_CANCEL_H
#define WEFT_PTHREAD_CANCEL_H

#include "pthread/self.h"

/* Ends the calling thread, unless it has disabled that. */
void wefti_cancel_act(void);

/* The calling thread ends here if it has been cancelled. */
static inline void wefti_cancel_point(void)
{
	if (unlikely(load_relaxed(&wefti_pt.urgent) & WEFTI_URGENT_CANCEL))
		wefti_cancel_act();
}

/* The same in calls that only asynchronous cancellation interrupts. */
static inline uint32_t wefti_cancel_urgent(void)
{
	return WEFTI_URGENT_SIGNAL |
	       (wefti_pt.cancel_async ? WEFTI_URGENT_CANCEL : 0);
}

static inline void wefti_cancel_point_async(void)
{
	if (wefti_pt.cancel_async)
		wefti_cancel_point();
}

/*
 * What must not be left halfway is between these two: an asynchronous cancellation
 * waits for the next point, as a deferred one does.
 */
static inline int wefti_cancel_async_hold(void)
{
	const int async = wefti_pt.cancel_async;

	wefti_pt.cancel_async = 0;
	return async;
}

static inline void wefti_cancel_async_release(int async)
{
	wefti_pt.cancel_async = (uint8_t)async;
}

/* The calling thread ends: it is not cancelled any more. */
void wefti_cancel_end(void);

#endif
