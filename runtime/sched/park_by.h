/* SPDX-License-Identifier: MIT */
/* sched/park_by.h - a thread leaves its stack first, and begins its wait after that */
#ifndef WEFT_SCHED_PARK_BY_H
#define WEFT_SCHED_PARK_BY_H

#include "sched/ready.h"
#include "sched/switch.h"
#include "thread/wait.h"

/*
 * For a green thread without a deadline. The post-switch action `post` begins the wait
 * (wefti_wait_begin_parked) and publishes it, off the thread's stack. So there is
 * nothing to commit, which saves an RMW. If the wait may be cancelled, the action
 * publishes it by an RMW and calls wefti_park_end_if_cancelled() after that. A cancellation
 * may come before that, too, and the thread goes on: the action reads what it needs of the
 * thread's stack before it begins the wait. May park.
 * Inline, because a call would save and restore registers around the switch.
 */
static ALWAYS_INLINE enum wefti_cause wefti_park_by(struct wefti_thread *self,
		enum wefti_why why, const void *object,
		void (*post)(struct wefti_thread *self))
{
	struct wefti_vcpu *v = self->vcpu;

	self->why = (uint8_t)why;
	store_relaxed(&self->waits_for, object);
	self->cold->since = load_relaxed(&wefti_rt.coarse_now);
	self->post = post;
	wefti_switch(v, self, wefti_pick_or_loop(v));
	self->why = WEFTI_WHY_NOTHING;
	return wefti_wait_cause(self);
}

#endif
