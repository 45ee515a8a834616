/* SPDX-License-Identifier: MIT */
/*
 * parks.h - a thread that is parked is blocked, and one that is made ready is not
 *
 * The scenario's own wefti_park() calls model_park(), after it has ended the wait if the
 * time is over.
 */
#ifndef WEFT_MODEL_PARKS_H
#define WEFT_MODEL_PARKS_H

#include "model.h"
#include "sched/park.h"
#include "sched/ready.h"

void wefti_ready(struct wefti_thread *t)
{
	m_unblock((int)t->slot);
}

int wefti_unpark(struct wefti_thread *t, uint64_t seq, enum wefti_cause cause)
{
	enum wefti_resolved was = wefti_wait_resolve(t, seq, cause);

	if (was == WEFTI_WAS_PARKED)
		wefti_ready(t);
	return was != WEFTI_LOST;
}

static __attribute__((unused)) void time_out(struct wefti_thread *self)
{
	wefti_wait_resolve(self, load_relaxed(&self->wait) >> WEFTI_WAIT_SEQ_SHIFT,
			   WEFTI_CAUSE_TIMEDOUT);
}

static __attribute__((unused)) enum wefti_cause model_park(struct wefti_thread *self)
{
	enum wefti_cause cause = wefti_wait_cause(self);

	if (cause != WEFTI_CAUSE_NONE)
		return cause;
	if (wefti_wait_commit(self))
		m_block((int)self->slot);
	cause = wefti_wait_cause(self);
	m_check(cause != WEFTI_CAUSE_NONE);
	return cause;
}

#endif
