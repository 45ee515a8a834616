/* SPDX-License-Identifier: MIT */
/*
 * life/block.c - announces a region that may block in the kernel
 *
 * The VCPU is not given away here: most regions are short, and a hand-over costs two
 * wake-ups. The monitor is told to hurry. It takes the VCPU of a thread that it finds
 * asleep, at two looks, in the same region (sched/blocked.c). The end of a region is an
 * entry into the runtime like any other, and notices that.
 *
 * Writers
 *   cold.block_region  begin, end; spawn.c: unite
 *   runtime.few_blocked  count_up, end, wefti_block_forget
 */
#include "life/few.h"

#include "sched/monitor.h"
#include "sched/record.h"
#include "sched/seat.h"
#include "weft/runtime.h"

#define IS_FEW	(1u << 31)	/* a flag in block_depth: counted in few_blocked */

static void begin(struct wefti_thread *self)
{
	struct wefti_cold *body = self->cold;

	if (body->block_depth++ == 0 && self->vcpu) {
		store_seq_cst(&body->block_region,
			      load_relaxed(&body->block_region) + 1);
		wefti_monitor_hurry();
		wefti_record(self->vcpu, WEFTI_EVENT_BLOCK_BEGIN, 0, self, 0);
	}
}

void weft_block_begin(void)
{
	struct wefti_thread *self = wefti_enter();

	begin(self);
	wefti_leave(self);
}

static int count_up(void)
{
	uint32_t n = load_relaxed(&wefti_rt.few_blocked);

	do {
		if (n >= WEFTI_FEW)
			return 0;
	} while (!cas_weak_seq_cst(&wefti_rt.few_blocked, &n, n + 1));
	return 1;
}

int wefti_block_begin_few(void)
{
	struct wefti_thread *self = wefti_enter();
	int counts = self->vcpu && self->cold->block_depth == 0;
	int begins = !counts || count_up();

	if (begins)
		begin(self);
	if (begins && counts)
		self->cold->block_depth |= IS_FEW;
	wefti_leave(self);
	return begins;
}

static void end(struct wefti_thread *self, struct wefti_cold *body)
{
	if (load_relaxed(&body->block_region) % 2) {
		store_seq_cst(&body->block_region,
			      load_relaxed(&body->block_region) + 1);
		wefti_record(self->vcpu, WEFTI_EVENT_BLOCK_END, 0, self, 0);
	}
	if (body->block_depth & IS_FEW)
		fetch_sub_seq_cst(&wefti_rt.few_blocked, 1);
	body->block_depth = 0;
}

void weft_block_end(void)
{
	struct wefti_thread *self = wefti_enter();
	struct wefti_cold *body = self->cold;
	uint32_t depth = body->block_depth & ~IS_FEW;

	if (depth == 1)
		end(self, body);
	else if (depth)
		body->block_depth--;
	wefti_leave(self);
}

void wefti_block_forget(struct wefti_thread *self)
{
	if (self)
		self->cold->block_depth &= ~IS_FEW;
	store_seq_cst(&wefti_rt.few_blocked, 0);
}
