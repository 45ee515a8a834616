/* SPDX-License-Identifier: MIT */
/* pthread/signal/cancel.h - cancellation points */
#ifndef WEFT_PTHREAD_SIGNAL_CANCEL_H
#define WEFT_PTHREAD_SIGNAL_CANCEL_H

#include "pthread/core/self.h"

/* Ends the calling thread, unless it has disabled that. */
void wefti_cancel_act(void);

/* The calling thread ends here if it has been cancelled. */
static inline void wefti_cancel_point(void)
{
	if (unlikely(load_relaxed(&wefti_pt.urgent) & WEFTI_URGENT_CANCEL))
		wefti_cancel_act();
}

/*
 * What must not be left halfway is between these two: an asynchronous cancellation
 * waits, as a deferred one does, for the next point or the end. hold() returns what
 * goes to release(). A handler on top of it sees the type that the program has set.
 */
static inline uint8_t wefti_cancel_hold(void)
{
	const uint8_t before = wefti_pt.cancel_held;

	wefti_pt.cancel_held = 1;
	return before;
}

static inline void wefti_cancel_release(uint8_t before)
{
	wefti_pt.cancel_held = before;
}

/* May the thread be ended anywhere just now? */
static inline int wefti_cancel_is_async(void)
{
	return wefti_pt.cancel_async && !wefti_pt.cancel_held;
}

/* The same as above, in calls that only asynchronous cancellation interrupts. */
static inline uint32_t wefti_cancel_urgent(void)
{
	return WEFTI_URGENT_SIGNAL |
	       (wefti_cancel_is_async() ? WEFTI_URGENT_CANCEL : 0);
}

static inline void wefti_cancel_point_async(void)
{
	if (wefti_cancel_is_async())
		wefti_cancel_point();
}

/*
 * libc's own cancellation points are to see, or not to see, that the calling thread is
 * cancelled. By the thread itself, outside the runtime.
 */
void wefti_cancel_show(void);
void wefti_cancel_hide(void);

/* Around a call of libc's that is such a point, and must not end the thread here. */
#define WEFTI_NO_POINT(call) __extension__ ({				\
	const uint8_t shown_ = wefti_pt.cancel_shown;			\
	__typeof__(call) result_;					\
									\
	if (unlikely(shown_))						\
		wefti_cancel_hide();					\
	result_ = (call);						\
	if (unlikely(shown_))						\
		wefti_cancel_show();					\
	result_;							\
})

/* The first frame of a thread is unwound to: by libc alone, perhaps. */
void *wefti_cancel_landed(void);

/* The calling thread ends: it is not cancelled any more. */
void wefti_cancel_end(void);

#endif
