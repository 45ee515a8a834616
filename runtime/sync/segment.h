/* SPDX-License-Identifier: MIT */
/*
 * sync/segment.h - the segments of lists of waiters; waiters.c has the argument
 */
#ifndef WEFT_SYNC_SEGMENT_H
#define WEFT_SYNC_SEGMENT_H

#include "sync/stock.h"

#ifdef WEFT_MODEL
#define WEFTI_SEG_CELLS		2u	/* fewer states, and segments that end */
#else
#define WEFTI_SEG_CELLS		26u
#endif
#define WEFTI_LINK_TAG	UINT64_C(0x7fffffff)
#define WEFTI_LINK_MARK		(UINT64_C(1) << 31)

struct wefti_seg {
	_Atomic uint32_t stock_next;
	_Atomic uint32_t tag;
	_Atomic uint64_t next;		/* number:32 | MARK | tag; if number is 0, the
					 * tag is the segment's own */
	_Atomic uint64_t retired;	/* tag:32 | count:32 */
	_Atomic uint64_t front;		/* tag:32 | cells known to be dead */
	_Atomic uint64_t fill;		/* tag:32 | cells known to be filled */
	_Atomic uint64_t cell[WEFTI_SEG_CELLS];
	uint64_t unused;
};

#ifndef WEFT_MODEL
_Static_assert(sizeof(struct wefti_seg) == 4 * CACHE_LINE, "lines of its own");
#endif

extern struct wefti_stock wefti_segments;

/* link is, or was, the link of a segment; it is not none. */
static inline struct wefti_seg *wefti_seg_of(uint64_t link)
{
	return wefti_not_null(wefti_stock_at(&wefti_segments,
					     sizeof(struct wefti_seg),
					     (uint32_t)(link >> 32)));
}

static inline uint32_t wefti_link_tag(uint64_t link)
{
	return (uint32_t)(link & WEFTI_LINK_TAG);
}

static inline int wefti_link_is_none(uint64_t link)
{
	return link >> 32 == 0;
}

/* Is the segment still in the life that the link names? */
static inline int wefti_seg_is_current(struct wefti_seg *seg, uint64_t link)
{
	/* of waiters.c: P3 */
	return load_acquire(&seg->tag) == wefti_link_tag(link);
}

/* The hint's value if it is of this life, else 0. */
static inline uint32_t wefti_seg_hint(_Atomic uint64_t *word, uint64_t link)
{
	uint64_t w = load_acquire(word);	/* of waiters.c: P5 */

	return w >> 32 == wefti_link_tag(link) ? (uint32_t)w : 0;
}

static inline void wefti_seg_set_hint(_Atomic uint64_t *word, uint64_t link,
				      uint32_t n)
{
	/* of waiters.c: P5 */
	store_release(word, (uint64_t)wefti_link_tag(link) << 32 | n);
}

static inline int wefti_seg_is_retired(struct wefti_seg *seg, uint64_t link)
{
	return load_relaxed(&seg->retired) ==
	       ((uint64_t)wefti_link_tag(link) << 32 | WEFTI_SEG_CELLS);
}

/* Returns a link to a FREE segment for the caller; 0 if there is no memory. */
uint64_t wefti_seg_get(struct wefti_thread *self);

/* A segment that is in no list -> FREE. self is NULL for a caller without a VCPU. */
void wefti_seg_free(struct wefti_thread *self, uint64_t link);

/*
 * The same for a segment that was the last of its list, and for all that threads append
 * to it until they see that its life is over.
 */
void wefti_seg_free_rest(struct wefti_thread *self, uint64_t link);

/*
 * All cells of the segment are DEAD. FULL -> LEAVING -> FREE, if it has a next and
 * *from links to it. Otherwise returns 0: the caller must look again from first.
 */
int wefti_seg_unlink(_Atomic uint64_t *from, uint64_t link,
			 struct wefti_thread *self);

/* The number of segments in the list that begins at *first, for tests. */
unsigned wefti_seg_count(_Atomic uint64_t *first);

#endif
