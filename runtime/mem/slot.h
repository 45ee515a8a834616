/* SPDX-License-Identifier: MIT */
/*
 * mem/slot.h - the place of thread structs: dense, type-stable, never freed
 *
 * A pointer to a slot stays a pointer to a slot for ever, and each number below
 * wefti_slot_limit() names a slot. So an id needs no table, a dump can walk them all,
 * and a stale pointer is harmless. Free slots are in depots of thread/bare.c.
 */
#ifndef WEFT_MEM_SLOT_H
#define WEFT_MEM_SLOT_H

#include "mem/dense.h"

/* thread/thread.h asserts that its struct is this large: two cache lines. */
#define WEFTI_THREAD_SIZE	128

#define WEFTI_SLOT_BATCH	64	/* the number that wefti_slot_grow makes */
#define WEFTI_SLOT_MOST		WEFTI_DENSE_MOST

struct wefti_thread;

extern struct wefti_dense wefti_slots;

/* Returns NULL if the index's part of the slab was never made. Wait-free. */
static ALWAYS_INLINE struct wefti_thread *wefti_slot_get(uint32_t index)
{
	return (struct wefti_thread *)
		wefti_dense_at(&wefti_slots, WEFTI_THREAD_SIZE, index);
}

/*
 * Makes new slots, all zeros: *count of them from *first_new up. They belong to the
 * caller. Any kernel threads may call it at once. Returns 0, or -ENOMEM: no memory, or
 * there are WEFTI_SLOT_MOST.
 */
MUST_USE int wefti_slot_grow(uint32_t *first_new, uint32_t *count);

/*
 * One more than the highest index ever made, for walks in signal handlers too. Each
 * index below it has a slot, which may still be all zeros.
 */
uint32_t wefti_slot_limit(void);

#endif
