/* SPDX-License-Identifier: MIT */
/*
 * mem/slot.h - where thread structs live: dense, type-stable, never given back
 *
 * A pointer to a slot stays a pointer to a slot for ever, and a number below
 * wefti_slot_limit() names one: so an id needs no table, a dump walks them all,
 * and a stale pointer is harmless. Free slots are in depots of thread/bare.c.
 */
#ifndef WEFT_MEM_SLOT_H
#define WEFT_MEM_SLOT_H

#include "mem/dense.h"

/* thread/thread.h asserts that its struct is this large: two cache lines. */
#define WEFTI_THREAD_SIZE	128

#define WEFTI_SLOT_BATCH	64	/* wefti_slot_grow gives as many */
#define WEFTI_SLOT_MOST		WEFTI_DENSE_MOST

struct wefti_thread;

extern struct wefti_dense wefti_slots;

/* NULL when the index's part of the slab was never made. Wait-free. */
static ALWAYS_INLINE struct wefti_thread *wefti_slot_get(uint32_t index)
{
	return (struct wefti_thread *)
		wefti_dense_at(&wefti_slots, WEFTI_THREAD_SIZE, index);
}

/*
 * Makes new slots, all zeros: *count of them from *first_new up. They are the
 * caller's. Any kernel threads, at once. Returns 0, or -ENOMEM: no memory, or
 * there are WEFTI_SLOT_MOST.
 */
MUST_USE int wefti_slot_grow(uint32_t *first_new, uint32_t *count);

/*
 * One more than the highest index ever made, for walks in signal handlers too:
 * each index below it has a slot, which may still be all zeros.
 */
uint32_t wefti_slot_limit(void);

#endif
