/* SPDX-License-Identifier: MIT */
/*
 * thread/bare.h - thread structs without a stack, and ids
 *
 * Writers
 *   thread.gen  wefti_thread_begins, wefti_thread_turn; life/join.c: try_claim
 *
 * Pairs
 *   P1  the generation changes  ->  find loads it: all that makes the id valid was
 *       done before it became odd, and nothing after it became even
 */
#ifndef WEFT_THREAD_BARE_H
#define WEFT_THREAD_BARE_H

#include "mem/slot.h"
#include "thread/thread.h"

/*
 * Returns a struct with a slot and a queue node of its own, and `cold` as its cold
 * part. NULL: no memory, or 16 million are in use.
 */
struct wefti_thread *wefti_thread_bare(enum wefti_kind kind,
				       struct wefti_cold *cold);
void wefti_thread_bare_free(struct wefti_thread *t);

/* The struct's next id becomes valid (odd), or its id ends (even). */
static inline void wefti_thread_turn(struct wefti_thread *t)
{
	store_release(&t->gen, load_relaxed(&t->gen) + 1);	/* P1 */
}

/* The struct's id becomes valid; its fields are set. state: WEFTI_JOIN_*. */
static inline void wefti_thread_begins(struct wefti_thread *t, unsigned state)
{
	uint32_t gen = load_relaxed(&t->gen) + 1;

	store_relaxed(&t->join, wefti_join_word(gen, state));
	store_release(&t->gen, gen);	/* P1 */
}

static inline uint64_t wefti_thread_id(const struct wefti_thread *t)
{
	return (uint64_t)load_relaxed(&t->gen) << 32 | t->slot;
}

/* The id that a struct has now is one of a thread while a thread is in the struct. */
static inline int wefti_id_is_valid(uint64_t id)
{
	return id >> 32 & 1;
}

/* Returns the thread of an id; NULL if it has ended. It may end at any moment. */
static inline struct wefti_thread *wefti_thread_find(uint64_t id)
{
	struct wefti_thread *t = wefti_slot_get((uint32_t)id);

	if (!t || !wefti_id_is_valid(id))
		return NULL;
	return load_acquire(&t->gen) == id >> 32 ? t : NULL;	/* P1 */
}

#endif
