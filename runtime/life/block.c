/* SPDX-License-Identifier: MIT */
/*
 * life/block.c - a region that may block in the kernel is announced
 *
 * Nothing is given away here: most regions are short, and a hand-over costs
 * two wake-ups. The monitor is told to hurry, and takes the VCPU of a thread
 * that it finds twice in the same region. The end is an entry into the runtime
 * like any other, which notices that.
 */
#include "sched/monitor.h"
#include "sched/seat.h"
#include "weft/runtime.h"

void weft_block_begin(void)
{
	struct wefti_thread *self = wefti_enter();
	struct wefti_cold *body = self->cold;

	if (body->block_depth++ == 0 && self->vcpu) {
		store_seq_cst(&body->block_region,
			      load_relaxed(&body->block_region) + 1);
		wefti_monitor_hurry();
	}
	wefti_leave(self);
}

void weft_block_end(void)
{
	struct wefti_thread *self = wefti_enter();
	struct wefti_cold *body = self->cold;

	if (body->block_depth && --body->block_depth == 0 &&
	    load_relaxed(&body->block_region) % 2)
		store_seq_cst(&body->block_region,
			      load_relaxed(&body->block_region) + 1);
	wefti_leave(self);
}
