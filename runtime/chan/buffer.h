/* SPDX-License-Identifier: MIT */
/*
 * chan/buffer.h - a bounded FIFO of words for many pushers and many poppers
 *
 * Structure
 *   An array of slots. Each slot is a pair (lockfree/pair.h): lo is the word, hi is
 *   lap:62 | CLOSED | FULL. A position is lap:32 | slot:32; positions are filled in
 *   order and emptied in order. tail is a position not beyond the first one that is
 *   not filled, and head one not beyond the first that is not emptied: a search
 *   begins there.
 *
 * States of a slot
 *   EMPTY(l)   position (l, slot) is not filled; lo is the previous word
 *   FULL(l)    it is filled and not emptied; lo is the word
 *   either with CLOSED: the position that is next to be filled never will be
 *
 *   EMPTY(l) --push--> FULL(l) --pop--> EMPTY(l + 1)
 *   EMPTY(l), FULL(l) --close, if it is at the tail--> the same with CLOSED
 *
 * Writers
 *   buffer.head  wefti_buffer_count_hint, wefti_buffer_gives,
 *       wefti_buffer_seek, wefti_buffer_try_pop
 *   *buffer.slot  wefti_buffer_close, wefti_buffer_try_pop,
 *       wefti_buffer_try_push
 *   buffer.tail  slot_at_tail, wefti_buffer_count_hint, wefti_buffer_seek,
 *       wefti_buffer_try_push
 *
 * Invariants
 *   I1  A position is filled after all positions before it have been filled, and
 *       emptied after all before it have been emptied. Pushers and poppers go past a
 *       position only when they have seen that.
 *   I2  A slot's lap only grows. tail and head are stored by a thread that has seen
 *       that all before is filled, or emptied, and before its own CAS. So a late store
 *       can take them back, but never too far forward.
 *   I3  lo changes only in the CAS of a push, together with hi. So what a popper has
 *       read of lo is the word of the FULL that its CAS then empties.
 *   I4  The last access to the buffer of a push or pop is its CAS. A thread that learns
 *       of the push or pop may end the buffer's life.
 *
 * Linearization
 *   push, pop, close: the CAS of the slot. "Full", "empty", "closed": the load of the
 *   slot that shows it. By I1 that slot is the one at the tail or the head then.
 *
 * Progress
 *   Lock-free. A failed CAS is the success of another thread. Slots that are stepped
 *   over have been filled or emptied by others; after a late store of tail or head
 *   there are at most `capacity` of them. A thread that stops at any step delays no
 *   other. A thread that loses a CAS makes a bounded number of pauses; it does not wait
 *   for another thread. Without the pauses, VCPUs that work on the same slot at each
 *   step would cost each other more.
 *
 * ABA and reclamation
 *   A CAS expects the lap, which comes again after 2^62. The limit is that of the
 *   positions. It is reached by a thread that stops for 2^31 laps between its load of
 *   tail or head and its load of the slot there, or before it stores tail or head.
 *
 * Pairs
 *   P1  push's CAS of a slot  ->  pop's load of hi: lo, and what the word names
 *   P2  pop's CAS of a slot -> push's load: only the order (I1)
 *   P3  tail, head are stored -> loaded: all slots before are filled, or emptied
 *
 * Source
 *   P. Tsigas, Y. Zhang, "A simple, fast and scalable non-blocking concurrent
 *   FIFO queue for shared memory multiprocessor systems", SPAA 2001. There, two
 *   kinds of empty tell laps apart; here a lap in each slot does, for any delay
 *   up to the limit. Rejected: Vyukov's ring, in which a pusher that is stopped
 *   hides all words that come after its own.
 */
#ifndef WEFT_CHAN_BUFFER_H
#define WEFT_CHAN_BUFFER_H

#include <errno.h>
#include <stdalign.h>

#include "base/compiler.h"
#include "lockfree/atomic.h"
#include "lockfree/pair.h"

#define WEFTI_SLOT_FULL		UINT64_C(1)
#define WEFTI_SLOT_CLOSED	UINT64_C(2)
#define WEFTI_SLOT_LAP_SHIFT	2
#define WEFTI_SLOT_LAP		(UINT64_C(1) << WEFTI_SLOT_LAP_SHIFT)

struct wefti_buffer {
	struct wefti_pair *slot;
	uint32_t capacity;
	alignas(CACHE_LINE) _Atomic uint64_t tail;	/* written by pushers */
	alignas(CACHE_LINE) _Atomic uint64_t head;	/* written by poppers */
};

/* By how many laps the slot is ahead of the position. */
static inline int32_t wefti_slot_ahead(uint64_t hi, uint64_t position)
{
	return (int32_t)((uint32_t)(hi >> WEFTI_SLOT_LAP_SHIFT) -
			 (uint32_t)(position >> 32));
}

static inline uint64_t wefti_position_next(const struct wefti_buffer *b,
					   uint64_t position)
{
	if (unlikely((uint32_t)position + 1 == b->capacity))
		return ((position >> 32) + 1) << 32;
	return position + 1;
}

static inline struct wefti_pair *wefti_slot_at(struct wefti_buffer *b,
					       uint64_t position)
{
	return &b->slot[(uint32_t)position];
}

/*
 * Steps from the position in `hint` to the first one that is not filled (past = FULL)
 * or not emptied (past = 0). *hi is that slot's hi.
 */
static ALWAYS_INLINE uint64_t wefti_buffer_seek(struct wefti_buffer *b,
		_Atomic uint64_t *hint, uint64_t past, uint64_t *hi)
{
	uint64_t begin = load_acquire(hint), at = begin;	/* P3 */

	for (;;) {
		/* P1, P2 */
		uint64_t h = pair_hi_acquire(wefti_slot_at(b, at));
		int32_t ahead = wefti_slot_ahead(h, at);

		*hi = h;
		if (ahead < 0 || (ahead == 0 && (h & WEFTI_SLOT_FULL) != past))
			break;
		if (ahead == 0 && !past)
			break;
		/* A late store of the hint: skips laps, by I1. */
		if (ahead > 1)
			at += (uint64_t)(uint32_t)(ahead - 1) << 32;
		at = wefti_position_next(b, at);
	}
	if (at != begin)
		store_release(hint, at);	/* P3 */
	return at;
}

/* hi of the slot behind this position's. */
static inline uint64_t wefti_buffer_next_hi(struct wefti_buffer *b,
					    uint64_t at)
{
	return pair_hi_relaxed(wefti_slot_at(b, wefti_position_next(b, at)));
}

#define WEFTI_BUFFER_LOST	1	/* another thread's CAS came first */

/*
 * Tries once to put the word in. Returns 0, -EAGAIN if it is full, -EPIPE if it is
 * closed, or LOST. Sets *room, unless room is NULL: was there room for another word
 * behind this one? Makes a full fence afterwards.
 */
static ALWAYS_INLINE int wefti_buffer_try_push(struct wefti_buffer *b,
		uint64_t word, int *room)
{
	struct wefti_wide old, new;
	uint64_t at = wefti_buffer_seek(b, &b->tail, WEFTI_SLOT_FULL, &old.hi);
	struct wefti_pair *slot = wefti_slot_at(b, at);

	if (unlikely(old.hi & (WEFTI_SLOT_CLOSED | WEFTI_SLOT_FULL)))
		return old.hi & WEFTI_SLOT_CLOSED ? -EPIPE : -EAGAIN;
	if (room)
		*room = b->capacity > 1 && !(wefti_buffer_next_hi(b, at) &
					     WEFTI_SLOT_FULL);
	old.lo = pair_lo_relaxed(slot);
	new = (struct wefti_wide){ word, old.hi | WEFTI_SLOT_FULL };
	/* EMPTY -> FULL. P1 */
	if (unlikely(!pair_cas_acq_rel(slot, &old, new)))
		return WEFTI_BUFFER_LOST;
	fence_seq_cst_after_rmw();	/* of waiters.c: P4 */
	return 0;
}

/*
 * Tries once to take a word out. Returns 0, -EAGAIN if it is empty, -EPIPE if it is
 * empty and closed, or LOST. Sets *more, unless more is NULL: was there another word
 * behind this one? Makes a full fence afterwards.
 */
static ALWAYS_INLINE int wefti_buffer_try_pop(struct wefti_buffer *b,
		uint64_t *word, int *more)
{
	uint64_t hi;
	uint64_t at = wefti_buffer_seek(b, &b->head, 0, &hi);
	struct wefti_pair *slot = wefti_slot_at(b, at);

	if (unlikely(!(hi & WEFTI_SLOT_FULL)))
		return hi & WEFTI_SLOT_CLOSED ? -EPIPE : -EAGAIN;
	if (more)
		*more = b->capacity > 1 && (wefti_buffer_next_hi(b, at) &
					    WEFTI_SLOT_FULL);
	*word = pair_lo_relaxed(slot);	/* I3 */
	/* FULL -> EMPTY of the next lap. P2; P1 by the load */
	if (unlikely(!pair_hi_cas_acq_rel(slot, &hi,
			(hi & ~WEFTI_SLOT_FULL) + WEFTI_SLOT_LAP)))
		return WEFTI_BUFFER_LOST;
	fence_seq_cst_after_rmw();	/* of waiters.c: P4 */
	return 0;
}

/* Called after LOST; `lost` counts these in one call. */
void wefti_buffer_back_off(unsigned *lost);

/* Tries until the result is not LOST. Each LOST is another thread's success. */
static inline int wefti_buffer_push(struct wefti_buffer *b, uint64_t word,
				    int *room)
{
	unsigned lost = 0;
	int error;

	while ((error = wefti_buffer_try_push(b, word, room)) ==
	       WEFTI_BUFFER_LOST)
		wefti_buffer_back_off(&lost);
	return error;
}

static inline int wefti_buffer_pop(struct wefti_buffer *b, uint64_t *word,
				   int *more)
{
	unsigned lost = 0;
	int error;

	while ((error = wefti_buffer_try_pop(b, word, more)) ==
	       WEFTI_BUFFER_LOST)
		wefti_buffer_back_off(&lost);
	return error;
}

/* For a thread that has announced its wait: is there room now, or is it closed? */
int wefti_buffer_takes(struct wefti_buffer *b);
/* The same: is there a message now, or is it closed? */
int wefti_buffer_gives(struct wefti_buffer *b);

/* Returns 0, or -EALREADY if it was closed before. */
int wefti_buffer_close(struct wefti_buffer *b);
int wefti_buffer_is_closed(struct wefti_buffer *b);

/* About how many messages there are. */
uint32_t wefti_buffer_count_hint(struct wefti_buffer *b);

/*
 * The struct is zero-filled otherwise. Returns 0, -ENOMEM, or -ENOTSUP if the processor
 * cannot change 16 bytes at once.
 */
MUST_USE int wefti_buffer_init(struct wefti_buffer *b, uint32_t capacity);
/* No thread uses it any more, and it is empty. */
void wefti_buffer_fini(struct wefti_buffer *b);

#endif
