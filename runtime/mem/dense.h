/* SPDX-License-Identifier: MIT */
/*
 * mem/dense.h - a table that grows in place and is never freed
 *
 * Structure
 *   A directory of chunks of 4096 items, and one count, `next`, of the items that have
 *   been handed out. A new item is all zeros, stays at one address for ever, and has a
 *   dense index. Depots (lockfree/depot.h) keep the free items, so that growing is
 *   rare.
 *
 * States
 *   of a chunk	NULL --grow--> made, for ever
 *   of an item absent --grow--> handed out, for ever
 *
 * Writers
 *   dense.chunk  make_chunk, wefti_dense_grow
 *   dense.next  wefti_dense_grow
 *
 * Invariants
 *   I1  The chunk of every index below next is made.
 *   I2  An index is handed out once: next changes only by a CAS, upwards.
 *
 * Linearization
 *   grow: at its CAS of next; -ENOMEM changes nothing. limit: at its load.
 *
 * Progress
 *   limit and at: wait-free, for signal handlers too. grow: lock-free, except for the
 *   kernel's part of a new chunk. A failed CAS of next means that another thread grew
 *   the table; a failed CAS of a chunk, that another made it. A chunk is made inside
 *   the retry loop, against the house's rule, because only there it is known which
 *   chunk is next. A caller makes at most two for each chunk that the others fill
 *   meanwhile, and a caller that lost frees its own.
 *
 * ABA and reclamation
 *   No value returns to an earlier one; nothing is freed.
 *
 * Pairs
 *   P1  grow's CAS of a chunk	-> at's, grow's load: the chunk's zeros
 *   P2  grow's CAS of next -> limit's load: I1 holds for the reader
 *   Model: tests/model/loom/c/dense.c.
 *
 * Source
 *   Ours. Rejected: one reservation of the whole address range. It counts against
 *   RLIMIT_AS, and against strict overcommit at its full size.
 */
#ifndef WEFT_MEM_DENSE_H
#define WEFT_MEM_DENSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "lockfree/atomic.h"

#define WEFTI_DENSE_CHUNK	4096u		/* items in a chunk */
#define WEFTI_DENSE_CHUNKS	4096u
#define WEFTI_DENSE_MOST	(WEFTI_DENSE_CHUNK * WEFTI_DENSE_CHUNKS)

/* Zero-filled is a valid empty table. */
struct wefti_dense {
	_Atomic uint32_t next;			/* items handed out */
	_Atomic(char *) chunk[WEFTI_DENSE_CHUNKS];
};

/*
 * Hands out `count` zeroed items with indexes *first and up. Several kernel threads may
 * call it at once. item_bytes must be the same in all calls for a table. Returns 0, or
 * -ENOMEM: no memory, or the table is full.
 */
MUST_USE int wefti_dense_grow(struct wefti_dense *d, size_t item_bytes,
			      uint32_t count, uint32_t *first);

/* All items handed out so far have an index below this. */
static inline uint32_t wefti_dense_limit(struct wefti_dense *d)
{
	return load_acquire(&d->next);		/* P2: from grow */
}

/*
 * Returns NULL if the index's chunk was never made. An index of a made chunk that is
 * not handed out yet gives an item of zeros.
 */
static ALWAYS_INLINE void *wefti_dense_at(struct wefti_dense *d,
					  size_t item_bytes, uint32_t index)
{
	if (unlikely(index >= WEFTI_DENSE_MOST))
		return NULL;

	char *chunk = load_acquire(		/* P1: from grow */
			&d->chunk[index / WEFTI_DENSE_CHUNK]);

	if (unlikely(!chunk))
		return NULL;
	return chunk + index % WEFTI_DENSE_CHUNK * item_bytes;
}

#endif
