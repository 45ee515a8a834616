/* SPDX-License-Identifier: MIT */
/*
 * lockfree/spsc.c - a wait-free ring from one producer to one consumer
 *
 * Structure
 *   A header of three parts and the cells behind it, in one piece of memory
 *   without pointers. head and tail are free-running positions, modulo 2^64;
 *   position p uses cell p mod capacity, a power of two. In use are the
 *   positions head .. tail - 1.
 *
 *   Each end keeps the other's position as it last saw it, beside its own, in its own
 *   cache lines. As long as that suffices, a push or pop touches no line that the other
 *   end writes, except the cells.
 *
 * States of a cell
 *   EMPTY outside head .. tail - 1; the producer's
 *   FULL	inside; the consumer's
 *
 *   EMPTY --push--> FULL --pop--> EMPTY
 *
 * Writers
 *   spsc.head  pop_bytes, weft_spsc_init, weft_spsc_pop, weft_spsc_pop_many
 *   spsc.magic  weft_spsc_init
 *   spsc.tail  push_bytes, weft_spsc_init, weft_spsc_push, weft_spsc_push_many
 *
 * Invariants
 *   I1  head_seen <= head <= tail <= head_seen + capacity, and
 *       tail_seen <= tail, head <= tail_seen.
 *   I2  Only the producer writes tail and head_seen, only the consumer head and
 *       tail_seen.
 *
 * Linearization
 *   push: at the store of tail. push_many: the same, for all of its elements at once.
 *   pop, pop_many: at the store of head. "Full": at the load of head; "empty": at the
 *   load of tail. Each is true at that moment. If a push_many (a pop_many) moves fewer
 *   than it was asked for, the number is the room (the elements) at the load; by the
 *   time of the store there may be more.
 *
 * Progress
 *   All are wait-free: the only loop is the copy.
 *
 * ABA and reclamation
 *   Positions do not come back before 2^64 elements. The memory is the
 *   caller's.
 *
 * Pairs
 *   P1  push's store of tail	-> pop's load of tail: the element
 *   P2  pop's store of head	-> push's load of head: "the cell was read"
 *   P3  init's store of magic	-> attach's load of it: the header
 *
 *   Without P2 a pop's read of a cell could sink below its store of head and
 *   meet the next lap's element.
 *
 * Source
 *   L. Lamport, "Specifying concurrent program modules", TOPLAS 1983. The remembered
 *   positions: P. Lee, T. Bu, G. Chandranmenon, "A lock-free, cache-efficient shared
 *   ring buffer", ANCS 2009. Theirs also delays its stores of head and tail. We do not:
 *   an element can be popped as soon as push has returned.
 */
#include "lockfree/spsc.h"

#include <errno.h>
#include <string.h>

#include "base/compiler.h"

/* Everything except the version, which is the last byte. */
#define MAGIC_MASK	(~UINT64_C(0xff))

#define ELEM_BYTES_MAX	65536
#define WORD_BYTES	sizeof(uint64_t)

size_t weft_spsc_bytes(size_t capacity, size_t elem_bytes)
{
	const size_t most = SIZE_MAX / 2 - sizeof(struct weft_spsc);

	if (capacity == 0 || (capacity & (capacity - 1)) != 0)
		return 0;
	if (elem_bytes == 0 || elem_bytes > ELEM_BYTES_MAX)
		return 0;
	if (capacity > most / elem_bytes)
		return 0;
	return sizeof(struct weft_spsc) + capacity * elem_bytes;
}

static int is_aligned(const void *memory)
{
	return (uintptr_t)memory % WEFT_SPSC_ALIGN == 0;
}

int weft_spsc_init(struct weft_spsc **ring, void *memory, size_t bytes,
		   size_t capacity, size_t elem_bytes)
{
	size_t need = weft_spsc_bytes(capacity, elem_bytes);
	struct weft_spsc *r = memory;

	if (need == 0 || need > bytes || !is_aligned(memory))
		return -EINVAL;
	r->mask = capacity - 1;
	r->elem_bytes = elem_bytes;
	r->head_seen = 0;
	r->tail_seen = 0;
	store_relaxed(&r->head, (uint64_t)0);
	store_relaxed(&r->tail, (uint64_t)0);
	store_release(&r->magic, WEFTI_SPSC_MAGIC);	/* P3: to attach */
	*ring = r;
	return 0;
}

int weft_spsc_attach(struct weft_spsc **ring, void *memory, size_t bytes)
{
	struct weft_spsc *r = memory;
	uint64_t magic;
	size_t need;

	if (bytes < sizeof(*r) || !is_aligned(memory))
		return -EINVAL;
	magic = load_acquire(&r->magic);	/* P3: from init */
	if ((magic & MAGIC_MASK) != (WEFTI_SPSC_MAGIC & MAGIC_MASK))
		return -EINVAL;
	if (magic != WEFTI_SPSC_MAGIC)
		return -EPROTO;
	need = weft_spsc_bytes((size_t)r->mask + 1, (size_t)r->elem_bytes);
	if (need == 0)
		return -EINVAL;
	if (need > bytes)
		return -EMSGSIZE;
	*ring = r;
	return 0;
}

/* The cell of a position. */
static inline unsigned char *cell_at(struct weft_spsc *r, uint64_t position)
{
	return r->cell + (position & r->mask) * r->elem_bytes;
}

/*
 * Returns how many cells there are for elements from `t` on. Looks at head only if it
 * does not know of `want` cells already.
 */
static inline uint64_t room_from(struct weft_spsc *r, uint64_t t, uint64_t want)
{
	uint64_t room = r->head_seen + r->mask + 1 - t;

	if (likely(room >= want))
		return room;
	r->head_seen = load_acquire(&r->head);	/* P2: the cells were read */
	return r->head_seen + r->mask + 1 - t;
}

/* The same for the elements from `h` on. */
static inline uint64_t ready_from(struct weft_spsc *r, uint64_t h,
				  uint64_t want)
{
	uint64_t ready = r->tail_seen - h;

	if (likely(ready >= want))
		return ready;
	r->tail_seen = load_acquire(&r->tail);	/* P1: the elements */
	return r->tail_seen - h;
}

/*
 * Most elements are one word, and a copy of a known size is one instruction. Others are
 * copied by a call, in functions of their own. So registers are saved there, and not
 * for each word.
 */
static inline int is_word(const struct weft_spsc *r)
{
	return likely(r->elem_bytes == WORD_BYTES);
}

static inline unsigned char *word_at(struct weft_spsc *r, uint64_t position)
{
	return r->cell + (position & r->mask) * WORD_BYTES;
}

static NOINLINE int push_bytes(struct weft_spsc *r, uint64_t t,
			       const void *elem)
{
	memcpy(cell_at(r, t), elem, r->elem_bytes);
	store_release(&r->tail, t + 1);		/* P1: to pop */
	return 0;
}

static NOINLINE int pop_bytes(struct weft_spsc *r, uint64_t h, void *elem)
{
	memcpy(elem, cell_at(r, h), r->elem_bytes);
	store_release(&r->head, h + 1);		/* P2: to push */
	return 0;
}

/* EMPTY -> FULL */
int weft_spsc_push(struct weft_spsc *r, const void *elem)
{
	uint64_t t = load_relaxed(&r->tail);	/* own (I2) */

	if (unlikely(room_from(r, t, 1) == 0))
		return -EAGAIN;
	plain_write(cell_at(r, t));
	if (!is_word(r))
		return push_bytes(r, t, elem);
	memcpy(word_at(r, t), elem, WORD_BYTES);
	store_release(&r->tail, t + 1);		/* P1: to pop */
	return 0;
}

/* FULL -> EMPTY */
int weft_spsc_pop(struct weft_spsc *r, void *elem)
{
	uint64_t h = load_relaxed(&r->head);	/* own (I2) */

	if (unlikely(ready_from(r, h, 1) == 0))
		return -EAGAIN;
	plain_read(cell_at(r, h));
	if (!is_word(r))
		return pop_bytes(r, h, elem);
	memcpy(elem, word_at(r, h), WORD_BYTES);
	store_release(&r->head, h + 1);		/* P2: to push */
	return 0;
}

/* How many of n cells from `position` on are before the end of the memory. */
static uint64_t before_wrap(const struct weft_spsc *r, uint64_t position,
			    uint64_t n)
{
	uint64_t left = r->mask + 1 - (position & r->mask);

	return n < left ? n : left;
}

/* EMPTY -> FULL, for up to count elements. */
size_t weft_spsc_push_many(struct weft_spsc *r, const void *elems, size_t count)
{
	uint64_t t = load_relaxed(&r->tail);	/* own (I2) */
	uint64_t room = room_from(r, t, count);
	uint64_t n = count < room ? count : room;
	uint64_t first = before_wrap(r, t, n);

	if (n == 0)
		return 0;
	for (uint64_t i = 0; i < n; i++)
		plain_write(cell_at(r, t + i));
	memcpy(cell_at(r, t), elems, first * r->elem_bytes);
	memcpy(r->cell, (const char *)elems + first * r->elem_bytes,
	       (n - first) * r->elem_bytes);
	store_release(&r->tail, t + n);		/* P1: to pop */
	return n;
}

/* FULL -> EMPTY, for up to count elements. */
size_t weft_spsc_pop_many(struct weft_spsc *r, void *elems, size_t count)
{
	uint64_t h = load_relaxed(&r->head);	/* own (I2) */
	uint64_t ready = ready_from(r, h, count);
	uint64_t n = count < ready ? count : ready;
	uint64_t first = before_wrap(r, h, n);

	if (n == 0)
		return 0;
	for (uint64_t i = 0; i < n; i++)
		plain_read(cell_at(r, h + i));
	memcpy(elems, cell_at(r, h), first * r->elem_bytes);
	memcpy((char *)elems + first * r->elem_bytes, r->cell,
	       (n - first) * r->elem_bytes);
	store_release(&r->head, h + n);		/* P2: to push */
	return n;
}

/*
 * Head first: tail is read later, so for the producer it is not below head. For other
 * threads tail may have moved on by more than a lap in between.
 */
size_t weft_spsc_count_hint(const struct weft_spsc *r)
{
	uint64_t head = load_relaxed(&r->head);
	uint64_t count = load_relaxed(&r->tail) - head;

	return count > r->mask + 1 ? r->mask + 1 : count;
}
