/* SPDX-License-Identifier: MIT */
/*
 * sync/stock.h - items of one size, type-stable, named by 32-bit numbers
 *
 * A stock is a table that grows (mem/dense.h), a list of free items for each VCPU, and
 * a depot between these lists. The VCPU's owner takes items from its list and puts them
 * back without atomics. Number 0 is no item. An item begins with the word that links it
 * while it is free; the rest keeps what its last user left there.
 */
#ifndef WEFT_SYNC_STOCK_H
#define WEFT_SYNC_STOCK_H

#include <stdalign.h>

#include "lockfree/depot.h"
#include "mem/dense.h"
#include "sched/vcpu.h"

#define WEFTI_STOCK_LOCAL	32768	/* bytes; then half goes to the depot */
#define WEFTI_STOCK_BATCH	32	/* made at once */

struct wefti_stock_local {
	alignas(CACHE_LINE) uint32_t top;	/* belongs to the VCPU's owner */
	uint32_t count;
};

/* Zero-filled is empty. */
struct wefti_stock {
	struct wefti_dense table;
	struct wefti_depot depot;
	struct wefti_stock_local local[WEFTI_VCPUS_MAX];
};

static ALWAYS_INLINE void *wefti_stock_at(struct wefti_stock *s, size_t bytes,
					  uint32_t number)
{
	return wefti_dense_at(&s->table, bytes, number - 1);
}

static ALWAYS_INLINE _Atomic uint32_t *wefti_stock_link(struct wefti_stock *s,
		size_t bytes, uint32_t number)
{
	return (_Atomic uint32_t *)wefti_stock_at(s, bytes, number);
}

/* link_of: returns the link of an index (number - 1), for the depot. */
uint32_t wefti_stock_get_slow(struct wefti_stock *s, size_t bytes,
		wefti_depot_next_fn *link_of, struct wefti_vcpu *v);
void wefti_stock_put_slow(struct wefti_stock *s, size_t bytes,
		wefti_depot_next_fn *link_of, struct wefti_vcpu *v);

/*
 * Returns an item for the caller, which is inside the runtime; 0 if there is no memory.
 * v may be NULL.
 */
static ALWAYS_INLINE uint32_t wefti_stock_get(struct wefti_stock *s,
		size_t bytes, wefti_depot_next_fn *link_of,
		struct wefti_vcpu *v)
{
	struct wefti_stock_local *local = v ? &s->local[v->index] : NULL;
	uint32_t number;

	if (unlikely(!local || !local->top))
		return wefti_stock_get_slow(s, bytes, link_of, v);
	number = local->top;
	local->top = load_relaxed(wefti_stock_link(s, bytes, number));
	local->count--;
	return number;
}

/* Gives it back. */
static ALWAYS_INLINE void wefti_stock_put(struct wefti_stock *s, size_t bytes,
		wefti_depot_next_fn *link_of, struct wefti_vcpu *v,
		uint32_t number)
{
	struct wefti_stock_local *local = v ? &s->local[v->index] : NULL;

	if (unlikely(!local)) {
		wefti_depot_push(&s->depot, number - 1, link_of(number - 1));
		return;
	}
	store_relaxed(wefti_stock_link(s, bytes, number), local->top);
	local->top = number;
	if (unlikely(++local->count > WEFTI_STOCK_LOCAL / bytes))
		wefti_stock_put_slow(s, bytes, link_of, v);
}

#endif
