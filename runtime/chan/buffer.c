/* SPDX-License-Identifier: MIT */
/* chan/buffer.c - the rarer calls of a buffer; buffer.h has the argument */
#include "chan/buffer.h"

#include <stdlib.h>

#include "lockfree/back_off.h"

#define PAUSES_FIRST	32u
#define PAUSES_MOST	512u

int wefti_buffer_init(struct wefti_buffer *b, uint32_t capacity)
{
	size_t bytes = ((size_t)capacity * sizeof(*b->slot) + CACHE_LINE - 1) &
		       ~(size_t)(CACHE_LINE - 1);

	if (!(wefti_arch_wide_can() & WEFTI_WIDE_CAS))
		return -ENOTSUP;
	b->slot = capacity <= WEFTI_BUFFER_FEW ? b->few :
		  aligned_alloc(CACHE_LINE, bytes);
	if (!b->slot)
		return -ENOMEM;
	for (uint32_t i = 0; i < capacity; i++)
		pair_init(&b->slot[i], 0, 0);	/* EMPTY(0) */
	b->capacity = capacity;
	b->end = capacity * WEFTI_POSITION_SLOT;
	atomic_init(&b->tail, WEFTI_POSITION_TAIL);
	atomic_init(&b->head, WEFTI_POSITION_HEAD);
	return 0;
}

COLD void wefti_buffer_back_off(unsigned *lost)
{
	wefti_back_off(lost, PAUSES_FIRST, PAUSES_MOST);
}

void wefti_buffer_fini(struct wefti_buffer *b)
{
	if (!wefti_buffer_is_small(b))
		free(b->slot);
	b->slot = NULL;
}

static uint64_t slot_at_tail(struct wefti_buffer *b, uint64_t *at)
{
	uint64_t w;

	*at = wefti_buffer_seek(b, &b->tail, &w);
	return w;
}

int wefti_buffer_takes(struct wefti_buffer *b)
{
	uint64_t at, w = slot_at_tail(b, &at);

	return !(w & WEFTI_SLOT_FULL) || (w & WEFTI_SLOT_CLOSED);
}

int wefti_buffer_gives(struct wefti_buffer *b)
{
	uint64_t w;

	wefti_buffer_seek(b, &b->head, &w);
	return (w & (WEFTI_SLOT_FULL | WEFTI_SLOT_CLOSED)) != 0;
}

int wefti_buffer_close(struct wefti_buffer *b)
{
	for (;;) {
		uint64_t at, w = slot_at_tail(b, &at);

		if (w & WEFTI_SLOT_CLOSED)
			return -EALREADY;
		/* P1, P2 */
		if (pair_hi_cas_acq_rel(wefti_slot_at(b, at), &w,
					w | WEFTI_SLOT_CLOSED))
			break;
	}
	fence_seq_cst_after_rmw();	/* of waiters.c: P4 */
	return 0;
}

int wefti_buffer_is_closed(struct wefti_buffer *b)
{
	uint64_t at, w = slot_at_tail(b, &at);

	return (w & WEFTI_SLOT_CLOSED) != 0;
}

uint32_t wefti_buffer_count_hint(struct wefti_buffer *b)
{
	uint64_t tail, head, w;
	int64_t n;

	head = wefti_buffer_seek(b, &b->head, &w);
	tail = wefti_buffer_seek(b, &b->tail, &w);
	head -= WEFTI_POSITION_HEAD;
	/* The laps of positions wrap. */
	n = (int64_t)((int32_t)((tail >> 32) - (head >> 32)) / 2) * b->capacity +
	    ((int64_t)(uint32_t)tail - (int64_t)(uint32_t)head) /
	    (int64_t)WEFTI_POSITION_SLOT;
	return n < 0 ? 0 : n > b->capacity ? b->capacity : (uint32_t)n;
}
