/* SPDX-License-Identifier: MIT */
/* thread/bare.c - thread structs without a stack */
#include "thread/bare.h"

#include "lockfree/depot.h"
#include "lockfree/fifo.h"
#include "thread/wait.h"

/*
 * A struct that was a foreign thread's stays one. A thread that resolves a foreign
 * thread's wait looks at its kind afterwards; the foreign thread may have noticed by
 * itself, gone on and ended by then. The look must not find another kind. It then wakes
 * no thread or, at worst, needlessly the next foreign thread.
 */
static struct wefti_depot free_slots, free_foreign;

static _Atomic uint32_t *next_of(uint32_t slot)
{
	return &wefti_slot_get(slot)->depot_next;
}

/* Gives each slot that was never used its number and its node, for good. */
static int make_slots(void)
{
	uint32_t first, count;
	int error = wefti_slot_grow(&first, &count);

	if (error)
		return error;
	error = wefti_fifo_reserve(first + count);
	if (error)
		return error;	/* the slots are lost; there is no memory */
	for (uint32_t i = first; i < first + count; i++) {
		struct wefti_thread *t = wefti_slot_get(i);

		t->slot = i;
		t->fifo_node = i;
		if (i != 0)	/* 0 is no id; node 0 is the queue's dummy */
			wefti_depot_push(&free_slots, i, next_of(i));
	}
	return 0;
}

struct wefti_thread *wefti_thread_bare(enum wefti_kind kind,
				       struct wefti_cold *cold)
{
	uint32_t slot = WEFTI_DEPOT_NONE;
	struct wefti_thread *t;

	if (kind == WEFTI_KIND_FOREIGN)
		slot = wefti_depot_pop(&free_foreign, next_of);
	if (slot == WEFTI_DEPOT_NONE)
		slot = wefti_depot_pop(&free_slots, next_of);
	while (slot == WEFTI_DEPOT_NONE) {
		if (make_slots() != 0)
			return NULL;
		slot = wefti_depot_pop(&free_slots, next_of);
	}
	t = wefti_slot_get(slot);
	t->cold = cold;
	t->tp = 0;
	if (t->kind != WEFTI_KIND_FOREIGN) {
		t->kind = kind & 15;
		t->light = 0;
	}
	t->vcpu = NULL;
	t->why = WEFTI_WHY_NOTHING;
	store_relaxed(&t->waits_for, NULL);
	/*
	 * The monitor may mean the thread that had the struct before, and look for a 0.
	 * A foreign thread has a 0 from now on, in order (of seat.c: P2); any other
	 * when it leaves the runtime. attention stays as it is (I3 there).
	 */
	store_release(&t->in_runtime, kind != WEFTI_KIND_FOREIGN);
	store_relaxed(&t->cancel, 0);
	store_relaxed(&t->join, (uint64_t)0);
	return t;
}

void wefti_thread_bare_free(struct wefti_thread *t)
{
	struct wefti_depot *to = &free_foreign;

	if (t->kind != WEFTI_KIND_FOREIGN) {
		t->kind = WEFTI_KIND_FREE;
		to = &free_slots;
	}
	t->cold = NULL;
	wefti_depot_push(to, t->slot, &t->depot_next);
}
