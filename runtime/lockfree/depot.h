/* SPDX-License-Identifier: MIT */
/*
 * lockfree/depot.h - a lock-free stack of table indexes, for free lists
 *
 * Structure
 *   One word, top:32 | tag:32, and one `next` word for each index, supplied by the
 *   caller. The free lists of thread slots and of stacks are depots over their own
 *   tables, and weft_index_stack_*() is one over the user's. top and next hold
 *   index + 1, so that 0 ends the list and zero-filled memory is an empty depot.
 *
 * States of an index
 *   OUT	a popper's, or never pushed; its next means nothing
 *   IN		reachable from top
 *
 *   OUT --push--> IN --pop--> OUT
 *
 * Writers
 *   depot.word  wefti_depot_pop_if, wefti_depot_push_if
 *   thread.depot_next  wefti_depot_push, wefti_depot_push_if;
 *       bare.c: make_slots, wefti_thread_bare_free;
 *       node.c: wefti_node_drop_spare
 *
 * Invariants
 *   I1  next of an index is written only by its pusher, while it is OUT.
 *   I2  Each change of the word adds 1 to the tag.
 *
 * Linearization
 *   The CAS of the word; NONE from pop: the load that found it empty.
 *
 * Progress
 *   Lock-free: a failed CAS is the success of another.
 *
 * ABA and reclamation
 *   A popper reads the next of an index that others may pop and push again in between.
 *   The tag then differs and the CAS fails. The tables are never freed, so a stale next
 *   is read from valid memory. The limit: a kernel thread that stops between its load
 *   and its CAS for exactly a multiple of 2^32 operations on this depot, with the same
 *   index on top.
 *
 * Pairs
 *   P1  push's CAS of the word	-> pop's load of it: next, and whatever the
 *	 pusher did to the object
 *
 *   pop's CAS is an RMW and continues the release sequence of every push below it, so
 *   it can be relaxed. What it read before can be overwritten only by threads that got
 *   the index from this popper.
 *
 * Source
 *   R. K. Treiber, "Systems programming: coping with parallelism", IBM 1986.
 *   Indexes in place of pointers leave room for a tag in one word.
 */
#ifndef WEFT_LOCKFREE_DEPOT_H
#define WEFT_LOCKFREE_DEPOT_H

#include <stdint.h>

#include "base/compiler.h"
#include "lockfree/atomic.h"

#define WEFTI_DEPOT_NONE	UINT32_MAX

/* Zero-filled is a valid empty depot. */
struct wefti_depot {
	_Atomic uint64_t word;		/* top:32 (index + 1) | tag:32 */
};

/* Returns where the table keeps the next word of an index; inlined in each pop. */
typedef _Atomic uint32_t *wefti_depot_next_fn(uint32_t index);

static inline uint64_t wefti_depot_word(uint64_t old, uint32_t top)
{
	return (uint64_t)top << 32 | (uint32_t)(old + 1);	/* I2 */
}

/* Pushes if the word is still *w. Returns 1 if it did so; else *w is the newer word. */
static inline int wefti_depot_push_if(struct wefti_depot *d, uint64_t *w,
				       uint32_t index, _Atomic uint32_t *next)
{
	store_relaxed(next, (uint32_t)(*w >> 32));
	return cas_weak_release(&d->word, w,		/* P1: to pop */
				wefti_depot_word(*w, index + 1));
}

/* OUT -> IN. `index` is the caller's and less than WEFTI_DEPOT_NONE. */
static inline void wefti_depot_push(struct wefti_depot *d, uint32_t index,
				    _Atomic uint32_t *next)
{
	uint64_t w = load_relaxed(&d->word);	/* a guess; the CAS checks it */

	while (!wefti_depot_push_if(d, &w, index, next))
		;
}

static inline uint64_t wefti_depot_load(const struct wefti_depot *d)
{
	return load_acquire(&d->word);			/* P1: from push */
}

/* WEFTI_DEPOT_NONE: the depot was empty. */
static inline uint32_t wefti_depot_top(uint64_t w)
{
	return (uint32_t)(w >> 32) - 1;
}

/*
 * Pops the top if the word is still w, which wefti_depot_load() returned. Returns 1 if
 * it did so.
 */
static inline int wefti_depot_pop_if(struct wefti_depot *d, uint64_t w,
				      _Atomic uint32_t *next)
{
	/* A statement of its own, so that a test can stop a thread behind it. */
	uint32_t below = load_relaxed(next);

	return cas_weak_relaxed(&d->word, &w, wefti_depot_word(w, below));
}

/* IN -> OUT. Returns the index pushed last, or WEFTI_DEPOT_NONE. */
static ALWAYS_INLINE uint32_t wefti_depot_pop(struct wefti_depot *d,
					      wefti_depot_next_fn *next_of)
{
	for (;;) {
		uint64_t w = wefti_depot_load(d);
		uint32_t index = wefti_depot_top(w);

		if (index == WEFTI_DEPOT_NONE ||
		    wefti_depot_pop_if(d, w, next_of(index)))
			return index;
	}
}

static inline int wefti_depot_is_empty(const struct wefti_depot *d)
{
	return load_relaxed(&d->word) >> 32 == 0;
}

#endif
