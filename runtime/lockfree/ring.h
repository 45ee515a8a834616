/* SPDX-License-Identifier: MIT */
/*
 * lockfree/ring.h - the layout of a ring for any number of producers and consumers
 *
 * For ring.c, which has the algorithm and its argument, and for its tests.
 */
#ifndef WEFT_LOCKFREE_RING_H
#define WEFT_LOCKFREE_RING_H

#include <stdalign.h>
#include <weft/ring.h>

#include "lockfree/pair.h"

/* Changes with the layout below. */
#define WEFTI_MPMC_MAGIC	UINT64_C(0x776566746d706d01)

struct weft_ring {
	/* written only by init */
	alignas(WEFT_RING_ALIGN) _Atomic uint64_t magic;
	uint64_t mask;			/* capacity - 1 */

	/* both are hints, never ahead of the truth; written by CAS, upwards */
	alignas(WEFT_RING_ALIGN) _Atomic uint64_t tail;
	alignas(WEFT_RING_ALIGN) _Atomic uint64_t head;

	/* lo: the element, hi: the state */
	alignas(WEFT_RING_ALIGN) struct wefti_pair cell[];
};

_Static_assert(sizeof(struct weft_ring) == 3 * WEFT_RING_ALIGN,
	       "each part fits its lines");

#endif
