/* SPDX-License-Identifier: MIT */
/*
 * life/cancel.c - a thread is asked to end
 *
 * The request is a flag that stays.
 *
 * Pairs
 *   P1  cancel sets the flag; fence; reads the wait word.
 *       wefti_park() has begun the wait; fence; reads the flag.
 *       One of the two sees the other.
 */
#include <errno.h>

#include "sched/park.h"
#include "thread/bare.h"
#include "weft/thread.h"

int weft_cancel(uint64_t id)
{
	struct wefti_thread *t = wefti_thread_find(id);
	struct wefti_thread *self;
	uint64_t w;

	if (!t)
		return -ESRCH;
	self = wefti_enter();
	store_seq_cst(&t->cancel, 1);
	fence_seq_cst();	/* P1; and of park.c: P1 */
	w = load_seq_cst(&t->wait);
	if (w & WEFTI_WAIT_CANCELLABLE)
		wefti_unpark(t, w >> WEFTI_WAIT_SEQ_SHIFT,
			     WEFTI_CAUSE_CANCELLED);
	wefti_leave(self);
	return 0;
}

int weft_is_cancelled(void)
{
	return load_seq_cst(&wefti_known_self()->cancel);
}

void weft_cancel_hold(void)
{
	wefti_known_self()->cold->cancel_hold++;
}

void weft_cancel_release(void)
{
	wefti_known_self()->cold->cancel_hold--;
}
