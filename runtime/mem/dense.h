/* SPDX-License-Identifier: MIT */
/*
 * mem/dense.h - a table that grows in place and is never given back
 *
 * Structure
 *   A directory of chunks of 4096 items, and one count, `next`, of the items
 *   that have been handed out. Items are all zeros when they are new, live for
 *   ever at one address and have dense indexes: what is free among them is kept
 *   by depots (lockfree/depot.h), so that growing is rare.
 *
 * States
 *   of a chunk	NULL --grow--> made, for ever
 *   of an item	not there --grow--> handed out, for ever
 *
 * Writers
 *   dense.chunk  make_chunk, wefti_dense_grow
 *   dense.next  wefti_dense_grow
 *
 * Invariants
 *   I1  The chunk of every index below next is made.
 *   I2  An index is handed out once: next only changes by a CAS upwards.
 *
 * Linearization
 *   grow: its CAS of next; -ENOMEM changes nothing. limit: its load.
 *
 * Progress
 *   limit and at: wait-free, for signal handlers too. grow: lock-free but for
 *   the kernel's part of a new chunk; a failed CAS of next means that another
 *   grew, a failed CAS of a chunk that another made it. Making a chunk lies
 *   inside the retry loop, against the house's rule, because only inside it is
 *   known which chunk is the next; a caller makes at most two for each chunk
 *   that the others fill meanwhile, and one that lost gives its own back.
 *
 * ABA and reclamation
 *   Nothing goes back to an earlier value; nothing is reclaimed.
 *
 * Pairs
 *   P1  grow's CAS of a chunk	-> at's, grow's load: the chunk's zeros
 *   P2  grow's CAS of next	-> limit's load: I1 holds for who reads it
 *
 * Source
 *   Ours. Rejected: one reservation of the whole address range, which counts
 *   against RLIMIT_AS, and against strict overcommit at its full size.
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
 * Hands out `count` zeroed items with indexes *first and up; may be called by
 * several kernel threads at once. item_bytes is the same in each call for a
 * table. Returns 0; -ENOMEM: no memory, or the table is full.
 */
MUST_USE int wefti_dense_grow(struct wefti_dense *d, size_t item_bytes,
			      uint32_t count, uint32_t *first);

/* All items handed out so far have an index below it. */
static inline uint32_t wefti_dense_limit(struct wefti_dense *d)
{
	return load_acquire(&d->next);		/* P2: from grow */
}

/*
 * NULL when the index's chunk was never made. An index of a made chunk that is
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
