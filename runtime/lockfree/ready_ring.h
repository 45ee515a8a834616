/* SPDX-License-Identifier: MIT */
/*
 * lockfree/ready_ring.h - the ready threads of one VCPU: an owner and thieves
 *
 * Structure
 *   256 slots, or an array of more, and one 64-bit word that says which are in use:
 *
 *	word = head:45 | len:19		slot of position p: p mod the number of slots
 *
 *   The positions in use are head .. head + len - 1; head + len is the tail. The owner
 *   (the kernel thread that carries the VCPU) pushes at the tail and takes from both
 *   ends; thieves take from the head. Every operation that succeeds changes the word
 *   once, and as a number the word only grows:
 *
 *	push			len + 1			word + 1
 *	pop, steal of n		head + n, len - n	word + n * (2^19 - 1)
 *	pop at the tail		head + 256, len - 1	word + 256 * 2^19 - 1
 *
 *   A pop at the tail moves head by a whole lap: the slots are the same, the word is
 *   new. The lap is the tag of this structure (see ABA). A separate tag field would
 *   take bits from head, and half a second of fork and join uses up 23 of them.
 *
 *   `array` says where the slots are: in the ring, or elsewhere. When the ring is full,
 *   its owner copies the positions in use to an array of four times as many slots (grow).
 *   When few are in use, the owner copies them back (shrink). Both leave the word as it
 *   is, so a thief that meets them goes on. Before each grow there have been half as many
 *   pushes as it copies, at least. A shrink copies fewer than the grow before it. So the
 *   copies take a bounded number of steps for each push, on average.
 *
 * States of a slot
 *   FREE	of no position in use, or in an array that the ring is not in
 *   HELD	nobody writes it
 *
 *   FREE --push, grow, shrink--> HELD --pop, steal, pop at the tail, grow, shrink--> FREE
 *
 * Invariants
 *   I1  len <= 2^18, so adding to len never carries into head.
 *   I2  Only the owner increases len, writes a slot or `array`. So only the owner moves
 *       the tail.
 *   I3  The word takes no value twice before it has wrapped at 2^64.
 *   I4  Between two copies lies a push. An array's slots are written only while it is in
 *       use or is being copied to.
 *   I5  A ring in an array is not taken from at its tail. Its lap would be longer, and
 *       the word would wrap sooner.
 *
 * Linearization
 *   An operation that takes or adds: at its RMW of word. NULL, 0 and -EAGAIN: at the
 *   load of word; "full" and "empty" were true at that moment. grow and shrink do not
 *   change what the ring holds.
 *
 * Progress
 *   push is wait-free (one fetch_add, no loop), and so are grow and shrink. The others
 *   are lock-free: a failed CAS means that another operation succeeded, and the owner's
 *   CAS can fail only because of thieves. A thread that stops anywhere delays no other.
 *
 * ABA and reclamation
 *   A thief loads word, then `array`, reads slots, and then moves word. If a slot that
 *   it read was rewritten in between, the slot was FREE in between, so the word had
 *   changed and by I3 the CAS fails. Without the lap at a pop of the tail I3 is false:
 *   the owner pushes A, a thief loads (h, 1) and reads A. The owner takes A back from the
 *   tail and pushes B, and the word is (h, 1) again. The thief would run A a second time,
 *   and B would never run. The limit: a thief that stops for exactly 2^37 tail pops (an
 *   hour of nothing else).
 *   The thief's array may be one that the ring has left. It still holds the right threads
 *   at the positions of the thief's word, since they were copied from it. The array is
 *   written again only for the next copy to it. Before that copy there was a push (I4),
 *   and the CAS fails. The thief loads word first: an array that was loaded before may be
 *   older than word, and the CAS could succeed.
 *   Slots live as long as the ring, and so do arrays: the owner of the VCPU keeps them
 *   for the next time. Threads are type-stable (mem/slot.c).
 *
 * Pairs
 *   P1  push's RMW of word	-> a thief's load of word: slot and thread, and `array`
 *       as it was at the push
 *   P2  a thief's CAS of word	-> push's, grow's, shrink's load of word: "the slot was
 *       read"
 *   P3  grow's, shrink's store of array	-> a thief's load of array: the slots
 *
 *   Every later change of word is an RMW and continues the release sequence. So a load
 *   that meets the word of a later pop still pairs with each push and each steal before
 *   it. Without P2 a thief's read of a slot could sink below its own CAS and meet the
 *   push for which the CAS made room.
 *   The owner needs neither pair for threads that it takes itself: it wrote the slots.
 *   When a VCPU changes its kernel thread, the hand-over must synchronize.
 *
 *   push is a release and no more. "push, then look at the idle mask" is a store before
 *   a load: the caller must put fence_seq_cst() in between (or
 *   fence_seq_cst_after_rmw(), as push ends with an RMW).
 *
 * Source
 *   The ring with steal-half of Go's and Tokio's schedulers, with head and length in
 *   one word instead of two indexes. Two indexes allow the owner to push without an RMW.
 *   But they do not allow it to take from the tail without a fence on every pop (Chase
 *   and Lev, SPAA 2005), and neither end can take several threads at once without a
 *   second CAS. The ring grows as the deque of Chase and Lev does.
 *   Rejected: a ring that overflows into the injection queue. With 1,000 ready threads a
 *   yield took 24 ns in place of 17, and the threads that were in the ring had their
 *   turns three times as often as the others. Rejected, too: to move half of a full ring
 *   to a list of blocks, as Go does. If the owner is stopped meanwhile, no other VCPU can
 *   take the threads that are being moved.
 */
#ifndef WEFT_LOCKFREE_READY_RING_H
#define WEFT_LOCKFREE_READY_RING_H

#include <errno.h>
#include <stdalign.h>
#include <stdint.h>

#include "base/compiler.h"
#include "lockfree/atomic.h"

struct wefti_thread;

#define WEFTI_RING_CAPACITY	256u	/* of the ring itself */
#define WEFTI_RING_SIZES	5	/* of arrays, each four times the one before */
#define WEFTI_RING_MOST		(WEFTI_RING_CAPACITY << 2 * WEFTI_RING_SIZES)

#define WEFTI_RING_LEN_BITS	19
#define WEFTI_RING_LEN_MASK	((1u << WEFTI_RING_LEN_BITS) - 1)
#define WEFTI_RING_WORD(head, len) \
	((uint64_t)(head) << WEFTI_RING_LEN_BITS | (uint64_t)(len))

/* What an operation adds to the word; the sums are modulo 2^64. */
#define WEFTI_RING_PUSH		UINT64_C(1)
#define WEFTI_RING_TAKE		(WEFTI_RING_WORD(1, 0) - 1)
#define WEFTI_RING_TAKE_TAIL	(WEFTI_RING_WORD(WEFTI_RING_CAPACITY, 0) - 1)

/* Slots follow it: mask + 1 of them, a power of two. */
struct wefti_ring_array {
	alignas(sizeof(void *)) uint32_t mask;	/* written before it is used */
};

/* wefti_ring_init() makes an empty ring. */
struct wefti_ring {
	/* written by the owner and by thieves, only by RMW */
	alignas(CACHE_LINE) _Atomic uint64_t word;
	/* written by the owner, read by thieves (P3): `own`, or more slots */
	alignas(CACHE_LINE) _Atomic(struct wefti_ring_array *) array;
	struct wefti_ring_array own;
	/* own's; written by the owner, read by thieves (P1, P2) */
	_Atomic(struct wefti_thread *) slot[WEFTI_RING_CAPACITY];
};

_Static_assert(offsetof(struct wefti_ring, slot) ==
	       offsetof(struct wefti_ring, own) + sizeof(struct wefti_ring_array),
	       "own's slots follow it");
_Static_assert(WEFTI_RING_MOST <= WEFTI_RING_LEN_MASK, "len must fit (I1)");

static inline unsigned wefti_ring_word_len(uint64_t word)
{
	return (unsigned)word & WEFTI_RING_LEN_MASK;
}

/* The position that is `ahead` behind the head, modulo 2^32. */
static inline unsigned wefti_ring_word_position(uint64_t word, unsigned ahead)
{
	return (unsigned)(word >> WEFTI_RING_LEN_BITS) + ahead;
}

/* The index of that position's slot among the ring's own. */
static inline unsigned wefti_ring_word_slot(uint64_t word, unsigned ahead)
{
	return wefti_ring_word_position(word, ahead) % WEFTI_RING_CAPACITY;
}

/* The slot of that position in `a`. */
static inline _Atomic(struct wefti_thread *) *
wefti_ring_slot(struct wefti_ring_array *a, uint64_t word, unsigned ahead)
{
	_Atomic(struct wefti_thread *) *slot = (void *)(a + 1);

	return &slot[wefti_ring_word_position(word, ahead) & a->mask];
}

static inline void wefti_ring_init(struct wefti_ring *r)
{
	r->own.mask = WEFTI_RING_CAPACITY - 1;
	store_relaxed(&r->array, &r->own);
	store_relaxed(&r->word, (uint64_t)0);
}

/*
 * A count that may be outdated when it is returned. After a full fence, zero means that
 * everything pushed before the other side's full fence has been taken.
 */
static inline unsigned wefti_ring_len_hint(const struct wefti_ring *r)
{
	return wefti_ring_word_len(load_relaxed(&r->word));
}

/* The oldest thread, which may have been taken meanwhile. NULL if the ring is empty. */
static inline struct wefti_thread *wefti_ring_head_hint(const struct wefti_ring *r)
{
	uint64_t w = load_acquire(&r->word);	/* P1 */

	return wefti_ring_word_len(w) == 0 ? NULL :
	       load_relaxed(wefti_ring_slot(load_acquire(&r->array), w, 0)); /* P3 */
}

/* Owner only. */
static inline int wefti_ring_is_grown(const struct wefti_ring *r)
{
	return load_relaxed(&r->array) != &r->own;
}

/* FREE -> HELD. Owner only. Returns 0, or -EAGAIN when no slot is FREE. */
static inline MUST_USE int wefti_ring_push(struct wefti_ring *r,
					   struct wefti_thread *t)
{
	uint64_t w = load_acquire(&r->word);	/* P2: the thieves' CAS */
	struct wefti_ring_array *a = load_relaxed(&r->array);	/* its own store */
	unsigned len = wefti_ring_word_len(w);

	if (unlikely(len > a->mask))
		return -EAGAIN;
	store_relaxed(wefti_ring_slot(a, w, len), t);

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
		struct wefti_ring_array *a = load_relaxed(&r->array);
		struct wefti_thread *t = load_relaxed(wefti_ring_slot(a, w, 0));

		/*
		 * relaxed: only the owner rewrites the slot, so no
		 * P2 is needed.
		 */
		if (likely(cas_weak_relaxed(&r->word, &w, w + WEFTI_RING_TAKE)))
			return t;
	}
	return NULL;
}

/*
 * HELD -> FREE at the tail: the newest. Owner only, of a ring that has not grown (I5).
 * NULL when it is empty.
 */
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
 * HELD -> FREE at the tail, if the newest thread is t. Owner only, of a ring that has
 * not grown (I5). Returns 1 if t was taken back, 0 if another thread is in front of it
 * or a thief has it.
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
 * Gives a full ring the slots of `larger`, which are more. Owner only, followed by a
 * push (I4). The array is the ring's until the ring goes.
 */
void wefti_ring_grow(struct wefti_ring *r, struct wefti_ring_array *larger);

/* Gives a ring that has grown its own slots back, if it fills at most half of them. */
void wefti_ring_shrink(struct wefti_ring *r);

/*
 * Takes one thread from the head of another VCPU's ring. For any kernel thread. Returns
 * NULL if the ring is empty.
 */
struct wefti_thread *wefti_ring_steal_one(struct wefti_ring *victim);

/*
 * Takes half of `victim`, rounded up, but not more than fits, and not more than 128.
 * The oldest thread goes to *first, the others are pushed on `mine` in the same order.
 * The caller owns `mine`, which is not `victim`. Returns how many were taken; 0 if
 * `victim` is empty.
 */
unsigned wefti_ring_steal(struct wefti_ring *victim, struct wefti_ring *mine,
			  struct wefti_thread **first);

#endif
