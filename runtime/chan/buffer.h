/* SPDX-License-Identifier: MIT */
/*
 * chan/buffer.h - a bounded FIFO of words for many pushers and many poppers
 *
 * Structure
 *   An array of slots. Each slot is a pair (lockfree/pair.h): lo is the word, hi is
 *   CLOSED | stage:63. The stage grows by one with each push and each pop: it is twice
 *   the lap, and one more while the slot is FULL. A position is stage:32 | offset of
 *   the slot:32, with the stage in which its side wants to find the slot. So one
 *   comparison tells whether a slot is the one, is not ready, or is past. Positions are
 *   filled in order and emptied in order. tail is a position not beyond the first one
 *   that is not filled, and head one not beyond the first that is not emptied: a search
 *   begins there. After a success the hint is one step behind, which the usual call
 *   goes without a loop (wefti_buffer_is_near).
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
 *   buffer.head  wefti_buffer_count_hint, wefti_buffer_gives, wefti_buffer_goes,
 *       wefti_buffer_is_near, wefti_buffer_pop_near, wefti_buffer_seek,
 *       wefti_buffer_try_pop
 *   *buffer.slot  wefti_buffer_close, wefti_buffer_try_pop, wefti_buffer_try_push,
 *       wefti_slot_pop, wefti_slot_push
 *   buffer.tail  slot_at_tail, wefti_buffer_count_hint, wefti_buffer_goes,
 *       wefti_buffer_is_near, wefti_buffer_push_near, wefti_buffer_seek,
 *       wefti_buffer_try_push
 *
 * Invariants
 *   I1  A position is filled after all positions before it have been filled, and
 *       emptied after all before it have been emptied. Pushers and poppers go past a
 *       position only when they have seen that.
 *   I2  A slot's stage only grows. tail and head are stored by a thread that has seen
 *       that all before is filled, or emptied, and before its own CAS. So a late store
 *       can take them back, but never too far forward.
 *   I3  lo changes only in the CAS of a push, together with hi. So what a popper has
 *       read of lo is the word of the FULL that its CAS then empties.
 *   I4  The last access to the buffer of a push or pop is its CAS. A thread that learns
 *       of the push or pop may end the buffer's life.
 *   I5  A buffer that was full, or empty, and open stays so as long as the hi of the slot
 *       at its tail, or head, does not change: a pop, a push or a close changes it. So a
 *       thread that waits needs one load to look again (wefti_buffer_goes).
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
 *   A CAS expects the stage, which never comes again: 2^62 laps are not made. The limit
 *   is that of the positions. It is reached by a thread that stops for 2^31 laps between
 *   its load of tail or head and its load of the slot there, or before it stores tail or
 *   head. After 2^30 laps such a thread may find a buffer full or empty that is not. The
 *   tail or head that it stores then is too far forward, for all threads.
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

/* hi of a slot: CLOSED | stage. The stage is twice the lap, and one more if it is FULL. */
#define WEFTI_SLOT_CLOSED	(UINT64_C(1) << (WEFTI_PAIR_HI_BITS - 1))
#define WEFTI_SLOT_FULL		UINT64_C(1)
#define WEFTI_SLOT_LAP		UINT64_C(2)

/* A position: stage:32 | offset of the slot:32. */
#define WEFTI_POSITION_STAGE	(UINT64_C(1) << 32)
#define WEFTI_POSITION_LAP	(WEFTI_SLOT_LAP * WEFTI_POSITION_STAGE)
#define WEFTI_POSITION_SLOT	((uint32_t)sizeof(struct wefti_pair))

/* Where each side begins: a pusher wants EMPTY slots, a popper FULL ones. */
#define WEFTI_POSITION_TAIL	UINT64_C(0)
#define WEFTI_POSITION_HEAD	WEFTI_POSITION_STAGE

#define WEFTI_BUFFER_FEW	3u	/* slots */

struct wefti_buffer {
	struct wefti_pair *slot;
	uint32_t capacity;
	uint32_t end;		/* the offset behind the last slot */
	struct wefti_pair few[WEFTI_BUFFER_FEW];	/* if it has no more */
	alignas(CACHE_LINE) _Atomic uint64_t tail;	/* written by pushers */
	alignas(CACHE_LINE) _Atomic uint64_t head;	/* written by poppers */
};

/*
 * Is the slot in the stage that the position wants (0), not yet (less), or past it
 * (more)? Stages of positions wrap.
 */
static inline int32_t wefti_slot_ahead(uint64_t hi, uint64_t position)
{
	return (int32_t)((uint32_t)(hi & ~WEFTI_SLOT_CLOSED) -
			 (uint32_t)(position >> 32));
}

static inline uint64_t wefti_position_next(const struct wefti_buffer *b,
					   uint64_t position)
{
	if (unlikely((uint32_t)position + WEFTI_POSITION_SLOT == b->end))
		return position - (uint32_t)position + WEFTI_POSITION_LAP;
	return position + WEFTI_POSITION_SLOT;
}

static inline struct wefti_pair *wefti_slot_at(struct wefti_buffer *b,
					       uint64_t position)
{
	return (struct wefti_pair *)(void *)((char *)b->slot +
					     (uint32_t)position);
}

/*
 * Steps from the position in `hint` to the first one that is not filled, from tail, or
 * not emptied, from head. *hi is that slot's hi.
 */
static inline uint64_t wefti_buffer_seek(struct wefti_buffer *b,
		_Atomic uint64_t *hint, uint64_t *hi)
{
	uint64_t begin = load_acquire(hint), at = begin;	/* P3 */

	for (;;) {
		int32_t ahead;

		*hi = pair_hi_acquire(wefti_slot_at(b, at));	/* P1, P2 */
		ahead = wefti_slot_ahead(*hi, at);
		if (ahead <= 0)
			break;
		/* A late store of the hint: skips laps, by I1. */
		at += (uint64_t)(((uint32_t)ahead - 1) / 2) * WEFTI_POSITION_LAP;
		at = wefti_position_next(b, at);
	}
	if (at != begin)
		store_release(hint, at);	/* P3 */
	return at;
}

/*
 * The same in at most one step, which is what is usual: the hint is where the last
 * success of this side was. Returns 1 if the slot is in the stage that is wanted; it may
 * be CLOSED. Else the hint may be far away, and the caller seeks.
 */
static ALWAYS_INLINE int wefti_buffer_is_near(struct wefti_buffer *b,
		_Atomic uint64_t *hint, struct wefti_pair **slot, uint64_t *hi)
{
	uint64_t at = load_acquire(hint);	/* P3 */

	*slot = wefti_slot_at(b, at);
	*hi = pair_hi_acquire(*slot);	/* P1, P2 */
	if (likely(wefti_slot_ahead(*hi, at) > 0)) {
		at = wefti_position_next(b, at);
		*slot = wefti_slot_at(b, at);
		*hi = pair_hi_acquire(*slot);	/* P1, P2 */
		store_release(hint, at);	/* P3 */
	}
	return likely(wefti_slot_ahead(*hi, at) == 0);
}

/* hi of the slot behind this position's. */
static inline uint64_t wefti_buffer_next_hi(struct wefti_buffer *b,
					    uint64_t at)
{
	return pair_hi_relaxed(wefti_slot_at(b, wefti_position_next(b, at)));
}

#define WEFTI_BUFFER_LOST	1	/* another thread's CAS came first */

/* Returns 0 or LOST. A full fence if it is 0. */
static ALWAYS_INLINE int wefti_slot_push(struct wefti_pair *slot, uint64_t hi,
					 uint64_t word)
{
	struct wefti_wide old = { pair_lo_relaxed(slot), hi };
	struct wefti_wide new = { word, hi + WEFTI_SLOT_FULL };

	/* EMPTY -> FULL. P1 */
	if (unlikely(!pair_cas_acq_rel(slot, &old, new)))
		return WEFTI_BUFFER_LOST;
	fence_seq_cst_after_rmw();	/* of waiters.c: P4 */
	perturb_here();			/* I4 */
	return 0;
}

static ALWAYS_INLINE int wefti_slot_pop(struct wefti_pair *slot, uint64_t hi,
					uint64_t *word)
{
	*word = pair_lo_relaxed(slot);	/* I3 */
	/* FULL -> EMPTY of the next lap. P2; P1 by the load */
	if (unlikely(!pair_hi_cas_acq_rel(slot, &hi,
			hi - WEFTI_SLOT_FULL + WEFTI_SLOT_LAP)))
		return WEFTI_BUFFER_LOST;
	fence_seq_cst_after_rmw();	/* of waiters.c: P4 */
	perturb_here();			/* I4 */
	return 0;
}

/*
 * Tries once to put the word in. Returns 0, -EAGAIN if it is full, -EPIPE if it is
 * closed, or LOST. *room: was there room for another word behind this one? Makes a full
 * fence after a success.
 */
static ALWAYS_INLINE int wefti_buffer_try_push(struct wefti_buffer *b,
		uint64_t word, int *room)
{
	uint64_t hi, at = wefti_buffer_seek(b, &b->tail, &hi);

	if (unlikely(hi & (WEFTI_SLOT_CLOSED | WEFTI_SLOT_FULL)))
		return hi & WEFTI_SLOT_CLOSED ? -EPIPE : -EAGAIN;
	*room = b->capacity > 1 && !(wefti_buffer_next_hi(b, at) &
				     WEFTI_SLOT_FULL);
	return wefti_slot_push(wefti_slot_at(b, at), hi, word);
}

/*
 * Tries once to take a word out. Returns 0, -EAGAIN if it is empty, -EPIPE if it is
 * empty and closed, or LOST. *more: was there another word behind this one? Makes a
 * full fence after a success.
 */
static ALWAYS_INLINE int wefti_buffer_try_pop(struct wefti_buffer *b,
		uint64_t *word, int *more)
{
	uint64_t hi, at = wefti_buffer_seek(b, &b->head, &hi);

	if (unlikely(!(hi & WEFTI_SLOT_FULL)))
		return hi & WEFTI_SLOT_CLOSED ? -EPIPE : -EAGAIN;
	*more = b->capacity > 1 && (wefti_buffer_next_hi(b, at) &
				    WEFTI_SLOT_FULL);
	return wefti_slot_pop(wefti_slot_at(b, at), hi, word);
}

#define WEFTI_BUFFER_FAR	2	/* not near: the caller seeks */

/* The usual push and pop, without a loop. They return 0, LOST, or FAR. */
static ALWAYS_INLINE int wefti_buffer_push_near(struct wefti_buffer *b,
						uint64_t word)
{
	struct wefti_pair *slot;
	uint64_t hi;

	if (unlikely(!wefti_buffer_is_near(b, &b->tail, &slot, &hi)) ||
	    unlikely(hi & WEFTI_SLOT_CLOSED))
		return WEFTI_BUFFER_FAR;
	return wefti_slot_push(slot, hi, word);
}

static ALWAYS_INLINE int wefti_buffer_pop_near(struct wefti_buffer *b,
					       uint64_t *word)
{
	struct wefti_pair *slot;
	uint64_t hi;

	if (unlikely(!wefti_buffer_is_near(b, &b->head, &slot, &hi)))
		return WEFTI_BUFFER_FAR;
	return wefti_slot_pop(slot, hi, word);
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

/*
 * Are the slots in the struct? If the struct is type-stable, they can still be read
 * when the buffer's life is over.
 */
static inline int wefti_buffer_is_small(const struct wefti_buffer *b)
{
	return b->slot == b->few;
}

/*
 * For a thread that is going to wait: the slot at the tail, or at the head, and its hi.
 * As long as that hi has not changed, a buffer that was full is full and open, and one
 * that was empty is empty and open. Returns 1 if it is neither.
 */
static inline int wefti_buffer_goes(struct wefti_buffer *b, int is_push,
				    struct wefti_pair **slot, uint64_t *hi)
{
	uint64_t at = wefti_buffer_seek(b, is_push ? &b->tail : &b->head, hi);

	*slot = wefti_slot_at(b, at);
	return (*hi & WEFTI_SLOT_CLOSED) ||
	       (*hi & WEFTI_SLOT_FULL) != (is_push ? WEFTI_SLOT_FULL : 0);
}

/*
 * Is it empty and open? 1 is sure. 0 is a hint: the slot where the search would begin does
 * not show it.
 */
static ALWAYS_INLINE int wefti_buffer_is_idle(struct wefti_buffer *b)
{
	uint64_t at = load_acquire(&b->head);	/* P3 */
	uint64_t hi = pair_hi_acquire(wefti_slot_at(b, at));	/* P1, P2 */

	return likely(wefti_slot_ahead(hi, at) < 0) &&
	       likely(!(hi & (WEFTI_SLOT_CLOSED | WEFTI_SLOT_FULL)));
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
