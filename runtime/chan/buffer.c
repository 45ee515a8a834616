/* SPDX-License-Identifier: MIT */
/* chan/buffer.c - a buffer's rarer calls; the argument is in buffer.h */
#include "chan/buffer.h"

#include <stdlib.h>

int wefti_buffer_init(struct wefti_buffer *b, uint32_t capacity)
{
	b->slot = calloc(capacity, sizeof(*b->slot));	/* EMPTY(0) */
	b->capacity = capacity;
	atomic_init(&b->tail, 0);
	atomic_init(&b->head, 0);
	return b->slot ? 0 : -ENOMEM;
}

void wefti_buffer_fini(struct wefti_buffer *b)
{
	free((void *)b->slot);
	b->slot = NULL;
}

static uint64_t slot_at_tail(struct wefti_buffer *b, uint64_t *at)
{
	uint64_t w;

	*at = wefti_buffer_seek(b, &b->tail, WEFTI_SLOT_FULL, &w);
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

	wefti_buffer_seek(b, &b->head, 0, &w);
	return (w & (WEFTI_SLOT_FULL | WEFTI_SLOT_CLOSED)) != 0;
}

int wefti_buffer_close(struct wefti_buffer *b)
{
	for (;;) {
		uint64_t at, w = slot_at_tail(b, &at);

		if (w & WEFTI_SLOT_CLOSED)
			return -EALREADY;
		if (cas_release(wefti_slot_at(b, at), &w,	/* P1, P2 */
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

	head = wefti_buffer_seek(b, &b->head, 0, &w);
	tail = wefti_buffer_seek(b, &b->tail, WEFTI_SLOT_FULL, &w);
	n = (int64_t)((tail >> 32) - (head >> 32)) * b->capacity +
	    (int64_t)(uint32_t)tail - (int64_t)(uint32_t)head;
	return n < 0 ? 0 : n > b->capacity ? b->capacity : (uint32_t)n;
}
