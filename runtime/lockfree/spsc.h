/* SPDX-License-Identifier: MIT */
/*
 * lockfree/spsc.h - the layout of a ring from one producer to one consumer
 *
 * For spsc.c, which has the algorithm and its argument, and for its tests.
 * WEFT_SPSC_ALIGN is two cache lines: processors that fetch lines in pairs then fetch
 * only lines of one end.
 */
#ifndef WEFT_LOCKFREE_SPSC_H
#define WEFT_LOCKFREE_SPSC_H

#include <stdalign.h>
#include <weft/spsc.h>

#include "lockfree/atomic.h"

/* Changes with the layout below. */
#define WEFTI_SPSC_MAGIC	UINT64_C(0x7765667473707301)

struct weft_spsc {
	/* written only by init */
	alignas(WEFT_SPSC_ALIGN) _Atomic uint64_t magic;
	uint64_t mask;			/* capacity - 1 */
	uint64_t elem_bytes;

	/* written by the producer; the consumer reads tail (P1) */
	alignas(WEFT_SPSC_ALIGN) _Atomic uint64_t tail;
	uint64_t head_seen;

	/* written by the consumer; the producer reads head (P2) */
	alignas(WEFT_SPSC_ALIGN) _Atomic uint64_t head;
	uint64_t tail_seen;

	alignas(WEFT_SPSC_ALIGN) unsigned char cell[];
};

_Static_assert(sizeof(struct weft_spsc) == 3 * WEFT_SPSC_ALIGN,
	       "each part fits its lines");

#endif
