/* SPDX-License-Identifier: MIT */
/*
 * sync/stock.c - the slow paths: fills a VCPU's list, and empties it
 *
 * Writers
 *   *wefti_stock_link()  wefti_stock_put
 */
#include "sync/stock.h"

/*
 * Takes an item from the depot or makes new ones: one for the caller, the others for
 * its VCPU if it has one.
 */
COLD uint32_t wefti_stock_get_slow(struct wefti_stock *s, size_t bytes,
		wefti_depot_next_fn *link_of, struct wefti_vcpu *v)
{
	uint32_t index = wefti_depot_pop(&s->depot, link_of), first;

	if (index != WEFTI_DEPOT_NONE)
		return index + 1;
	if (wefti_dense_grow(&s->table, bytes, WEFTI_STOCK_BATCH, &first))
		return 0;
	for (uint32_t i = 1; i < WEFTI_STOCK_BATCH; i++)
		wefti_stock_put(s, bytes, link_of, v, first + i + 1);
	return first + 1;
}

/* Moves half of the list to the depot, where other VCPUs find it. */
COLD void wefti_stock_put_slow(struct wefti_stock *s, size_t bytes,
		wefti_depot_next_fn *link_of, struct wefti_vcpu *v)
{
	struct wefti_stock_local *local = &s->local[v->index];

	while (local->count > WEFTI_STOCK_LOCAL / bytes / 2) {
		uint32_t number = local->top;

		local->top = load_relaxed(wefti_stock_link(s, bytes, number));
		local->count--;
		wefti_depot_push(&s->depot, number - 1, link_of(number - 1));
	}
}
