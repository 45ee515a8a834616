/* SPDX-License-Identifier: MIT */
/* thread/bare.c - thread structs without a stack */
#include "thread/bare.h"

#include "lockfree/depot.h"
#include "lockfree/fifo.h"
#include "thread/wait.h"

static struct wefti_depot free_slots;

static _Atomic uint32_t *next_of(uint32_t slot)
{
	return &wefti_slot_get(slot)->depot_next;
}

/* A slot that was never used gets its number and its node for good. */
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
	uint32_t slot = wefti_depot_pop(&free_slots, next_of);
	struct wefti_thread *t;

	while (slot == WEFTI_DEPOT_NONE) {
		if (make_slots() != 0)
			return NULL;
		slot = wefti_depot_pop(&free_slots, next_of);
	}
	t = wefti_slot_get(slot);
	t->cold = cold;
	t->tp = 0;
	t->light = 0;
	t->vcpu = NULL;
	t->why = WEFTI_WHY_NOTHING;
	store_relaxed(&t->waits_for, NULL);
	store_relaxed(&t->in_runtime, 0);
	store_relaxed(&t->attention, 0);
	store_relaxed(&t->cancel, 0);
	store_relaxed(&t->join, (uint64_t)0);
	t->kind = kind & 15;
	return t;
}

void wefti_thread_bare_free(struct wefti_thread *t)
{
	t->kind = WEFTI_KIND_FREE;
	t->cold = NULL;
	wefti_depot_push(&free_slots, t->slot, &t->depot_next);
}
