/* SPDX-License-Identifier: MIT */
/*
 * lockfree/ready_ring.c - thieves of a VCPU's ready ring; the ring grows, and shrinks
 *
 * Structure, States, Invariants, Linearization, Progress, ABA and reclamation,
 * Source: lockfree/ready_ring.h.
 *
 * Writers
 *   ring.array  copy_to, wefti_ring_init
 *   *wefti_ring_slot()  copy_to, slot_copy, wefti_ring_push, wefti_ring_steal
 *   ring.word  wefti_ring_init, wefti_ring_pop, wefti_ring_pop_tail,
 *       wefti_ring_pop_tail_if, wefti_ring_push, wefti_ring_steal,
 *       wefti_ring_steal_one
 *
 * Pairs
 *   P1  push's RMW of word	-> a thief's load of word: slot and thread, and `array`
 *       as it was at the push
 *   P2  a thief's CAS of word	-> push's, grow's, shrink's load of word: "the slot was
 *       read"
 *   P3  grow's, shrink's store of array	-> a thief's load of array: the slots
 */
#include "lockfree/ready_ring.h"

#define STEAL_MOST	(WEFTI_RING_CAPACITY / 2)

static void slot_copy(_Atomic(struct wefti_thread *) *to,
		      _Atomic(struct wefti_thread *) *from)
{
	store_relaxed(to, load_relaxed(from));
}

/* The positions in use get slots of `to`. */
static void copy_to(struct wefti_ring *r, struct wefti_ring_array *to)
{
	uint64_t w = load_acquire(&r->word);	/* P2: of the last time in `to` */
	struct wefti_ring_array *from = load_relaxed(&r->array);

	for (unsigned i = 0; i < wefti_ring_word_len(w); i++)
		slot_copy(wefti_ring_slot(to, w, i), wefti_ring_slot(from, w, i));
	store_release(&r->array, to);	/* P3 */
}

void wefti_ring_grow(struct wefti_ring *r, struct wefti_ring_array *larger)
{
	copy_to(r, larger);
}

void wefti_ring_shrink(struct wefti_ring *r)
{
	if (wefti_ring_len_hint(r) <= WEFTI_RING_CAPACITY / 2)
		copy_to(r, &r->own);
}

struct wefti_thread *wefti_ring_steal_one(struct wefti_ring *victim)
{
	for (;;) {
		uint64_t w = load_acquire(&victim->word);	/* P1: push */
		struct wefti_ring_array *a;
		struct wefti_thread *t;

		if (wefti_ring_word_len(w) == 0)
			return NULL;
		a = load_acquire(&victim->array);	/* P3 */
		t = load_relaxed(wefti_ring_slot(a, w, 0));

		/* P2: after this the owner may write the slot */
		if (cas_weak_release(&victim->word, &w, w + WEFTI_RING_TAKE))
			return t;
	}
}

static unsigned min_unsigned(unsigned a, unsigned b)
{
	return a < b ? a : b;
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
	struct wefti_ring_array *to = load_relaxed(&mine->array), *from;
	unsigned len = wefti_ring_word_len(m);
	/* One is not pushed. */
	unsigned limit = min_unsigned(to->mask - len + 2, STEAL_MOST);

	for (;; limit = (limit + 1) / 2) {
		uint64_t w = load_acquire(&victim->word);	/* P1: push */
		unsigned half = (wefti_ring_word_len(w) + 1) / 2;
		unsigned n = min_unsigned(half, limit);

		if (n == 0)
			return 0;
		from = load_acquire(&victim->array);	/* P3 */

		struct wefti_thread *oldest =
			load_relaxed(wefti_ring_slot(from, w, 0));

		for (unsigned i = 1; i < n; i++)
			slot_copy(wefti_ring_slot(to, m, len + i - 1),
				  wefti_ring_slot(from, w, i));

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
