/* SPDX-License-Identifier: MIT */
/*
 * chan/buffer.h - a bounded FIFO of words, many pushers, many poppers
 *
 * Structure
 *   An array of slots, a pair each (lockfree/pair.h): lo is the word, hi is
 *   lap:62 | CLOSED | FULL. A position is lap:32 | slot:32; positions are filled
 *   in order and emptied in order. tail and head are positions that are not
 *   beyond the first one that is not filled, not emptied: where to begin to
 *   look.
 *
 * States of a slot
 *   EMPTY(l)   position (l, slot) is not filled; lo is what it was
 *   FULL(l)    it is filled and not emptied; lo is the word
 *   either with CLOSED: the position that is to be filled next never will be
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
 *   I1  A position is filled when all before it have been, emptied when all
 *       before it have been: pushers and poppers leave one only when they have
 *       seen it so.
 *   I2  A slot's lap only grows. tail and head are stored by who has seen that
 *       all before is filled, or emptied, and before its own CAS: so a late
 *       store can take them back but never too far on.
 *   I3  lo changes only in the CAS of a push, together with hi. So what a popper
 *       has read of it is the word of the FULL that its CAS then empties.
 *   I4  A push's and a pop's last access to the buffer is its CAS: who learns
 *       of it may end the buffer's life.
 *
 * Linearization
 *   push, pop, close: the CAS of the slot. "Full", "empty", "closed": the load
 *   of the slot that shows it, by I1 the slot at the tail or the head then.
 *
 * Progress
 *   Lock-free: a failed CAS is another's success, and what is stepped over has
 *   been filled or emptied by others; after a late store of tail or head, by at
 *   most `capacity` steps. One thread's stop delays nobody at any step. Who
 *   loses a CAS makes some pauses, a bounded number, and waits for nobody: VCPUs
 *   that work on the same slot at each step cost each other more than that.
 *
 * ABA and reclamation
 *   A CAS expects the lap, which comes again after 2^62. The limit is that of
 *   the positions: a thread stopped between its load of tail or head and its load
 *   of the slot there, or before it stores the one, for 2^31 laps.
 *
 * Pairs
 *   P1  push's CAS of a slot  ->  pop's load of hi: lo, and what the word names
 *   P2  pop's CAS of a slot  ->  push's load: nothing but the order (I1)
 *   P3  tail, head are stored  ->  loaded: the slots before are as they say
 *
 * Source
 *   P. Tsigas, Y. Zhang, "A simple, fast and scalable non-blocking concurrent
 *   FIFO queue for shared memory multiprocessor systems", SPAA 2001. There two
 *   kinds of empty tell laps apart; a lap in each slot does that for any delay
 *   up to the limit. Rejected: Vyukov's ring, in which a pusher that is stopped
 *   hides all that come after it.
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
	alignas(CACHE_LINE) _Atomic uint64_t tail;	/* by pushers */
	alignas(CACHE_LINE) _Atomic uint64_t head;	/* by poppers */
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
 * Steps from where `hint` says to the first position that is not filled
 * (past = FULL) or not emptied (past = 0). *hi is its slot's.
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
		/* A late store of the hint: nearer, by I1. */
		if (ahead > 1)
			at += (uint64_t)(uint32_t)(ahead - 1) << 32;
		at = wefti_position_next(b, at);
	}
	if (at != begin)
		store_release(hint, at);	/* P3 */
	return at;
}

/* hi of the slot behind the position's. */
static inline uint64_t wefti_buffer_look_behind(struct wefti_buffer *b,
						uint64_t at)
{
	return pair_hi_relaxed(wefti_slot_at(b, wefti_position_next(b, at)));
}

#define WEFTI_BUFFER_LOST	1	/* another's CAS came first */

/*
 * Tries once to put the word in. Returns 0, -EAGAIN: it is full, -EPIPE: it is
 * closed, or LOST. *room, unless room is NULL: behind the word, there was room
 * for another. Full fence behind it.
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
		*room = b->capacity > 1 && !(wefti_buffer_look_behind(b, at) &
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
 * Tries once to take a word out. Returns 0, -EAGAIN: it is empty, -EPIPE: it is
 * empty and closed, or LOST. *more, unless more is NULL: behind the word, there
 * was another. Full fence behind it.
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
		*more = b->capacity > 1 && (wefti_buffer_look_behind(b, at) &
					    WEFTI_SLOT_FULL);
	*word = pair_lo_relaxed(slot);	/* I3 */
	/* FULL -> EMPTY of the next lap. P2; P1 by the load */
	if (unlikely(!pair_hi_cas_acq_rel(slot, &hi,
			(hi & ~WEFTI_SLOT_FULL) + WEFTI_SLOT_LAP)))
		return WEFTI_BUFFER_LOST;
	fence_seq_cst_after_rmw();	/* of waiters.c: P4 */
	return 0;
}

/* It was LOST; `lost` counts that, in this call. */
void wefti_buffer_back_off(unsigned *lost);

/* Until it is not LOST, which is each time the success of another. */
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

/* Looks, for who has said that it waits: is there room, or is it closed? */
int wefti_buffer_takes(struct wefti_buffer *b);
/* Is there a message, or is it empty and closed? */
int wefti_buffer_gives(struct wefti_buffer *b);

/* Returns 0, or -EALREADY: it was closed. */
int wefti_buffer_close(struct wefti_buffer *b);
int wefti_buffer_is_closed(struct wefti_buffer *b);

/* How many messages there are, about. */
uint32_t wefti_buffer_count_hint(struct wefti_buffer *b);

/*
 * Zero-filled otherwise. Returns 0, -ENOMEM, or -ENOTSUP: the processor cannot
 * change 16 bytes at once.
 */
MUST_USE int wefti_buffer_init(struct wefti_buffer *b, uint32_t capacity);
/* Nobody uses it any more; it is empty. */
void wefti_buffer_fini(struct wefti_buffer *b);

#endif
