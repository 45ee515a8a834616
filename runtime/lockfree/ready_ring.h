/* SPDX-License-Identifier: MIT */
/*
 * lockfree/ready_ring.h - the ready threads of one VCPU: an owner and thieves
 *
 * Structure
 *   256 slots and one 64-bit word that is the whole state:
 *
 *	word = head:55 | len:9		slot of position p: p mod 256
 *
 *   The positions in use are head .. head + len - 1; head + len is the tail. The owner
 *   (the kernel thread that carries the VCPU) pushes at the tail and takes from both
 *   ends; thieves take from the head. Every operation that succeeds changes the word
 *   once, and as a number the word only grows:
 *
 *	push			len + 1			word + 1
 *	pop, steal of n		head + n, len - n	word + n * 511
 *	pop at the tail		head + 256, len - 1	word + 256 * 512 - 1
 *
 *   A pop at the tail moves head by a whole lap: the slots are the same, the word is
 *   new. The lap is the tag of this structure (see ABA). A separate tag field would
 *   take bits from head, and half a second of fork and join uses up 23 of them.
 *
 * States of a slot
 *   FREE	outside head .. tail - 1; the owner may write it
 *   HELD	inside; nobody writes it
 *
 *   FREE --push--> HELD --pop, steal, pop at the tail--> FREE
 *
 * Invariants
 *   I1  len <= 256, so adding to len never carries into head.
 *   I2  Only the owner increases len or writes a slot, so only the owner moves the
 *       tail.
 *   I3  The word takes no value twice before it has wrapped at 2^64.
 *
 * Linearization
 *   An operation that takes or adds: at its RMW of word. NULL, 0 and -EAGAIN: at the
 *   load of word; "full" and "empty" were true at that moment.
 *
 * Progress
 *   push is wait-free (one fetch_add, no loop). The others are lock-free: a failed CAS
 *   means that another operation succeeded, and the owner's CAS can fail only because
 *   of thieves. A thread that stops anywhere delays no other.
 *
 * ABA and reclamation
 *   A thief loads word, reads slots, and then moves word. If a slot that it
 *   read was rewritten in between, the slot was FREE in between, so the word
 *   had changed and by I3 the CAS fails. Without the lap at a pop of the tail
 *   I3 is false: the owner pushes A, a thief loads (h, 1) and reads A. The owner takes
 *   A back from the tail and pushes B, and the word is (h, 1) again. The thief would run
 *   A a second time, and B would never run. The limit: a thief that stops for exactly
 *   2^47 tail pops (days of nothing else).
 *   Slots live as long as the ring; threads are type-stable (mem/slot.c).
 *
 * Pairs
 *   P1  push's RMW of word	-> a thief's load of word: slot and thread
 *   P2  a thief's CAS of word	-> push's load of word: "the slot was read"
 *
 *   Every later change of word is an RMW and continues the release sequence. So a load
 *   that meets the word of a later pop still pairs with each push and each steal before
 *   it. Without P2 a thief's read of a slot could sink below its own CAS and meet the
 *   push for which the CAS made room.
 *   The owner needs neither pair for what it takes itself: it wrote the slots. When a
 *   VCPU changes its kernel thread, the hand-over must synchronize.
 *
 *   push is a release and no more. "push, then look at the idle mask" is a store before
 *   a load: the caller must put fence_seq_cst() in between (or
 *   fence_seq_cst_after_rmw(), as push ends with an RMW).
 *
 * Source
 *   The bounded ring with steal-half of Go's and Tokio's schedulers, with head and
 *   length in one word instead of two indexes. Two indexes allow the owner to push
 *   without an RMW. But they do not allow it to take from the tail without a fence on
 *   every pop (Chase and Lev, SPAA 2005), and neither end can take several threads at
 *   once without a second CAS.
 */
#ifndef WEFT_LOCKFREE_READY_RING_H
#define WEFT_LOCKFREE_READY_RING_H

#include <errno.h>
#include <stdalign.h>
#include <stdint.h>

#include "base/compiler.h"
#include "lockfree/atomic.h"

struct wefti_thread;

#define WEFTI_RING_CAPACITY	256u

#define WEFTI_RING_LEN_BITS	9
#define WEFTI_RING_LEN_MASK	((1u << WEFTI_RING_LEN_BITS) - 1)
#define WEFTI_RING_WORD(head, len) \
	((uint64_t)(head) << WEFTI_RING_LEN_BITS | (uint64_t)(len))

/* What an operation adds to the word; the sums are modulo 2^64. */
#define WEFTI_RING_PUSH		UINT64_C(1)
#define WEFTI_RING_TAKE		(WEFTI_RING_WORD(1, 0) - 1)
#define WEFTI_RING_TAKE_TAIL	(WEFTI_RING_WORD(WEFTI_RING_CAPACITY, 0) - 1)

/* Zero-filled is a valid empty ring. */
struct wefti_ring {
	/* written by the owner and by thieves, only by RMW */
	alignas(CACHE_LINE) _Atomic uint64_t word;
	/* written by the owner, read by thieves (P1, P2) */
	alignas(CACHE_LINE) _Atomic(struct wefti_thread *)
		slot[WEFTI_RING_CAPACITY];
};

_Static_assert(WEFTI_RING_CAPACITY <= WEFTI_RING_LEN_MASK, "len must fit (I1)");

static inline unsigned wefti_ring_word_len(uint64_t word)
{
	return (unsigned)word & WEFTI_RING_LEN_MASK;
}

/* The slot index of the position that is `ahead` positions behind the head. */
static inline unsigned wefti_ring_word_slot(uint64_t word, unsigned ahead)
{
	return ((unsigned)(word >> WEFTI_RING_LEN_BITS) + ahead) %
		WEFTI_RING_CAPACITY;
}

/*
 * A count that may be outdated when it is returned. After a full fence, zero means that
 * everything pushed before the other side's full fence has been taken.
 */
static inline unsigned wefti_ring_len_hint(const struct wefti_ring *r)
{
	return wefti_ring_word_len(load_relaxed(&r->word));
}

/* FREE -> HELD. Owner only. Returns 0, or -EAGAIN when 256 are queued. */
static inline MUST_USE int wefti_ring_push(struct wefti_ring *r,
					   struct wefti_thread *t)
{
	uint64_t w = load_acquire(&r->word);	/* P2: the thieves' CAS */
	unsigned len = wefti_ring_word_len(w);

	if (unlikely(len == WEFTI_RING_CAPACITY))
		return -EAGAIN;
	store_relaxed(&r->slot[wefti_ring_word_slot(w, len)], t);

	/*
	 * Thieves may have moved head since. That left the tail where it was (I2) and
	 * made len smaller, so the sum needs no check. P1: slot and thread.
	 */
	fetch_add_release(&r->word, WEFTI_RING_PUSH);
	return 0;
}

/* HELD -> FREE at the head. Owner only. Returns NULL when it is empty. */
static inline struct wefti_thread *wefti_ring_pop(struct wefti_ring *r)
{
	uint64_t w = load_relaxed(&r->word);	/* own slots: no P1 needed */

	while (wefti_ring_word_len(w) != 0) {
		struct wefti_thread *t =
			load_relaxed(&r->slot[wefti_ring_word_slot(w, 0)]);

		/*
		 * relaxed: only the owner rewrites the slot, so no
		 * P2 is needed.
		 */
		if (likely(cas_weak_relaxed(&r->word, &w, w + WEFTI_RING_TAKE)))
			return t;
	}
	return NULL;
}

/* HELD -> FREE at the tail: the newest. Owner only. NULL when it is empty. */
static inline struct wefti_thread *wefti_ring_pop_tail(struct wefti_ring *r)
{
	uint64_t w = load_relaxed(&r->word);	/* own slots: no P1 needed */

	while (wefti_ring_word_len(w) != 0) {
		unsigned newest = wefti_ring_word_slot(w,
					wefti_ring_word_len(w) - 1);
		struct wefti_thread *t = load_relaxed(&r->slot[newest]);

		if (likely(cas_weak_relaxed(&r->word, &w,
					    w + WEFTI_RING_TAKE_TAIL)))
			return t;
	}
	return NULL;
}

/*
 * HELD -> FREE at the tail, if the newest thread is t. Owner only. Returns 1 if t was
 * taken back, 0 if another thread is in front of it or a thief has it.
 */
static inline MUST_USE int wefti_ring_pop_tail_if(struct wefti_ring *r,
						  struct wefti_thread *t)
{
	uint64_t w = load_relaxed(&r->word);

	for (;;) {
		unsigned len = wefti_ring_word_len(w);

		/* Thieves do not move the tail, but they may empty the ring. */
		if (len == 0)
			return 0;

		unsigned newest = wefti_ring_word_slot(w, len - 1);

		if (load_relaxed(&r->slot[newest]) != t)
			return 0;
		if (likely(cas_weak_relaxed(&r->word, &w,
					    w + WEFTI_RING_TAKE_TAIL)))
			return 1;
	}
}

/*
 * Takes one thread from the head of another VCPU's ring. For any kernel thread. Returns
 * NULL if the ring is empty.
 */
struct wefti_thread *wefti_ring_steal_one(struct wefti_ring *victim);

/*
 * Takes half of `victim`, rounded up, but not more than fits. The oldest thread goes to
 * *first, the others are pushed on `mine` in the same order. The caller owns `mine`,
 * which is not `victim`. Returns how many were taken; 0 if `victim` is empty.
 */
unsigned wefti_ring_steal(struct wefti_ring *victim, struct wefti_ring *mine,
			  struct wefti_thread **first);

#endif
