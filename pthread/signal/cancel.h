/* SPDX-License-Identifier: MIT */
/* pthread/signal/cancel.h - cancellation points */
#ifndef WEFT_PTHREAD_SIGNAL_CANCEL_H
#define WEFT_PTHREAD_SIGNAL_CANCEL_H

#include "pthread/core/self.h"

/* Ends the calling thread, unless it has disabled cancellation. */
void wefti_cancel_act(void);

/* The calling thread ends here if it has been cancelled. */
static inline void wefti_cancel_point(void)
{
	if (unlikely(load_relaxed(&wefti_pt.urgent) & WEFTI_URGENT_CANCEL))
		wefti_cancel_act();
}

/* The same in a function that libc's threads wait in as well. */
static inline void wefti_cancel_point_of_all(void)
{
	if (unlikely(wefti_pt_is_libcs()))
		pthread_testcancel();
	else
		wefti_cancel_point();
}

/*
 * Has the caller to end at its next point? Where it has disabled cancellation, the mark
 * that would interrupt its wait again is taken back.
 */
static inline int wefti_cancel_is_due(void)
{
	if (likely(!wefti_pt_is_urgent(WEFTI_URGENT_CANCEL)))
		return 0;
	if (!load_seq_cst(&wefti_pt.cancel_disabled))
		return 1;
	wefti_cancel_point();
	return 0;
}

/*
 * These two enclose what must not be left halfway. Between them an asynchronous
 * cancellation waits, as a deferred one does, for the next point or for release(). The
 * caller passes hold()'s result to release(). A handler that interrupts this section
 * sees the cancellation type that the program has set.
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

/* May a cancellation end the calling thread at any instruction now? */
static inline int wefti_cancel_is_async(void)
{
	return wefti_pt.cancel_async && !wefti_pt.cancel_held;
}

/* What is urgent in calls that only an asynchronous cancellation interrupts. */
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
 * Shows to libc's own cancellation points, or hides from them, that the calling thread
 * is cancelled. Called by the thread itself, outside the runtime.
 */
void wefti_cancel_show(void);
void wefti_cancel_hide(void);

/* Encloses a call of libc's that is such a point, and must not end the thread here. */
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

/* An unwinding has reached the first frame of the thread. libc may have begun it. */
void *wefti_cancel_landed(void);

/* The calling thread ends: it can no longer be cancelled. */
void wefti_cancel_end(void);

#endif
