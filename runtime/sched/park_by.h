/* SPDX-License-Identifier: MIT */
/* sched/park_by.h - a thread leaves its stack first, and waits then */
#ifndef WEFT_SCHED_PARK_BY_H
#define WEFT_SCHED_PARK_BY_H

#include "sched/ready.h"
#include "sched/switch.h"
#include "thread/wait.h"

/*
 * For a green thread without a deadline: post, its post-switch action, begins the
 * wait (wefti_wait_begin_parked) and publishes it, off the thread's stack. So
 * there is nothing to commit, which saves an RMW. Where the wait may be cancelled,
 * it is published by an RMW, and wefti_park_look_for_cancel() comes behind it.
 * May park. Inline, for the sake of what is saved and put back around each call.
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
