/* SPDX-License-Identifier: MIT */
/*
 * sync/segment.c - gets and frees segments; waiters.c has the argument
 *
 * Writers
 *   seg.cell  wefti_seg_get; waiters.c: fill_cell
 *   seg.fill  wefti_seg_get, wefti_seg_set_hint; waiters.c: fill_cell
 *   seg.front  wefti_seg_get, wefti_seg_set_hint; waiters.c: search_segment
 *   seg.next  wefti_seg_free_rest, wefti_seg_get, wefti_seg_unlink;
 *       waiters.c: next_or_append, sweep
 *   seg.retired  wefti_seg_get; waiters.c: wefti_waiters_retire
 *   seg.tag  end_life
 */
#include "sync/segment.h"

struct wefti_stock wefti_segments TABLE;

static _Atomic uint32_t *link_of(uint32_t index)
{
	return wefti_stock_link(&wefti_segments, sizeof(struct wefti_seg),
				index + 1);
}

uint64_t wefti_seg_get(struct wefti_thread *self)
{
	uint32_t number = wefti_stock_get(&wefti_segments,
					  sizeof(struct wefti_seg),
					  link_of, self->vcpu);
	struct wefti_seg *seg;
	uint32_t tag;

	if (unlikely(!number))
		return 0;
	seg = wefti_seg_of((uint64_t)number << 32);
	tag = load_relaxed(&seg->tag);
	for (unsigned i = 0; i < WEFTI_SEG_CELLS; i++)
		store_release(&seg->cell[i],
			      (uint64_t)tag);	/* of waiters.c: P7 */
	store_release(&seg->next, (uint64_t)tag);	/* of waiters.c: P7 */
	store_relaxed(&seg->retired, (uint64_t)tag << 32);
	store_relaxed(&seg->front, (uint64_t)tag << 32);
	store_relaxed(&seg->fill, (uint64_t)tag << 32);
	return (uint64_t)number << 32 | tag;
}

static void end_life(struct wefti_seg *seg, uint64_t link)
{
	/* of waiters.c: P3 */
	store_release(&seg->tag, (wefti_link_tag(link) + 1) & WEFTI_LINK_TAG);
}

static void put(struct wefti_thread *self, uint64_t link)
{
	wefti_stock_put(&wefti_segments, sizeof(struct wefti_seg), link_of,
			self ? self->vcpu : NULL, (uint32_t)(link >> 32));
}

void wefti_seg_free(struct wefti_thread *self, uint64_t link)
{
	end_life(wefti_seg_of(link), link);
	put(self, link);
}

void wefti_seg_free_rest(struct wefti_thread *self, uint64_t link)
{
	while (!wefti_link_is_none(link)) {
		struct wefti_seg *seg = wefti_seg_of(link);
		uint64_t next;

		end_life(seg, link);
		/* of waiters.c: P3; also acquires what was appended */
		next = fetch_or_acq_rel(&seg->next, WEFTI_LINK_MARK);
		put(self, link);
		link = next & ~WEFTI_LINK_MARK;
	}
}

int wefti_seg_unlink(_Atomic uint64_t *from, uint64_t link,
			  struct wefti_thread *self)
{
	struct wefti_seg *seg = wefti_seg_of(link);
	uint64_t next, was = link;

	do {
		next = load_acquire(&seg->next);    /* of waiters.c: P2 */
		if (!wefti_seg_is_current(seg, link) ||
		    wefti_link_is_none(next))
			return 0;
	} while (!(next & WEFTI_LINK_MARK) &&
		 !cas_weak_acq_rel(&seg->next, &next,	/* of waiters.c: P2 */
				   next | WEFTI_LINK_MARK));
	/* of waiters.c: P2 */
	if (!cas_acq_rel(from, &was, next & ~WEFTI_LINK_MARK))
		return 0;
	wefti_seg_free(self, link);
	return 1;
}

unsigned wefti_seg_count(_Atomic uint64_t *first)
{
	uint64_t link = load_acquire(first);		/* of waiters.c: P2 */
	unsigned n = 0;

	for (; !wefti_link_is_none(link); n++)
		link = load_acquire(&wefti_seg_of(link)->next) &	/* of waiters.c: P2 */
		       ~WEFTI_LINK_MARK;
	return n;
}
