/* SPDX-License-Identifier: MIT */
/*
 * lockfree/ready_ring.c - the thieves' side of a VCPU's ready ring
 *
 * Structure, States, Invariants, Linearization, Progress, ABA and reclamation,
 * Source: lockfree/ready_ring.h.
 *
 * Writers
 *   ring.slot  slot_copy, wefti_ring_push
 *   ring.word  wefti_ring_pop, wefti_ring_pop_tail, wefti_ring_pop_tail_if,
 *       wefti_ring_push, wefti_ring_steal, wefti_ring_steal_one
 *
 * Pairs
 *   P1  push's RMW of word	-> a thief's load of word: slot and thread
 *   P2  a thief's CAS of word	-> push's load of word: "the slot was read"
 */
#include "lockfree/ready_ring.h"

struct wefti_thread *wefti_ring_steal_one(struct wefti_ring *victim)
{
	for (;;) {
		uint64_t w = load_acquire(&victim->word);	/* P1: push */

		if (wefti_ring_word_len(w) == 0)
			return NULL;

		struct wefti_thread *t =
			load_relaxed(&victim->slot[wefti_ring_word_slot(w, 0)]);

		/* P2: after this the owner may write the slot */
		if (cas_weak_release(&victim->word, &w, w + WEFTI_RING_TAKE))
			return t;
	}
}

static unsigned min_unsigned(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static void slot_copy(struct wefti_ring *to, unsigned to_slot,
		      struct wefti_ring *from, unsigned from_slot)
{
	store_relaxed(&to->slot[to_slot], load_relaxed(&from->slot[from_slot]));
}

/*
 * The stolen threads are copied straight to the free slots behind mine's tail, where no
 * thread looks until they are published. If the CAS fails, they are garbage in free
 * slots. A copy of 128 slots takes longer than a push, so an owner that pushes all the
 * time would make every large steal fail. So each failure halves the number.
 */
unsigned wefti_ring_steal(struct wefti_ring *victim, struct wefti_ring *mine,
			  struct wefti_thread **first)
{
	uint64_t m = load_acquire(&mine->word);		/* P2: mine's thieves */
	unsigned len = wefti_ring_word_len(m);
	unsigned limit = WEFTI_RING_CAPACITY - len + 1;	/* one is not pushed */

	for (;; limit = (limit + 1) / 2) {
		uint64_t w = load_acquire(&victim->word);	/* P1: push */
		unsigned half = (wefti_ring_word_len(w) + 1) / 2;
		unsigned n = min_unsigned(half, limit);

		if (n == 0)
			return 0;

		struct wefti_thread *oldest =
			load_relaxed(&victim->slot[wefti_ring_word_slot(w, 0)]);

		for (unsigned i = 1; i < n; i++)
			slot_copy(mine, wefti_ring_word_slot(m, len + i - 1),
				  victim, wefti_ring_word_slot(w, i));

		/* P2: after this the victim may write the slots */
		if (!cas_weak_release(&victim->word, &w,
				      w + n * WEFTI_RING_TAKE))
			continue;
		if (n > 1)	/* P1: the same as n - 1 pushes */
			fetch_add_release(&mine->word,
					  (n - 1) * WEFTI_RING_PUSH);
		*first = oldest;
		return n;
	}
}
