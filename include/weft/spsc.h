/* SPDX-License-Identifier: MIT */
/*
 * weft/spsc.h - a wait-free ring from one producer to one consumer
 *
 * The ring lies in memory that the caller gives, without pointers in it, so
 * that it can also lie in a mapping that two processes have at different
 * addresses. Elements are of one size and are copied in and out, in order.
 *
 * At any time at most one thread is the producer and at most one the consumer;
 * they may be the same, of weft or not, or in two processes. Who takes over a
 * role must have synchronized with who had it before. No function starts the
 * runtime or enters the kernel.
 */
#ifndef WEFT_SPSC_H
#define WEFT_SPSC_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the memory of a ring is aligned, in bytes. */
#define WEFT_SPSC_ALIGN		128

struct weft_spsc;

/*
 * weft_spsc_bytes - how much memory a ring takes
 *
 *   capacity    elements that fit, a power of two
 *   elem_bytes  of each element, 1 to 65536
 *
 * Returns the bytes, or 0: an argument is not as above, or the sum is more
 *   than half of the address space.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API size_t weft_spsc_bytes(size_t capacity, size_t elem_bytes);

/*
 * weft_spsc_init - make an empty ring
 *
 *   ring      set to the ring, which begins at `memory`
 *   memory    aligned to WEFT_SPSC_ALIGN; the caller's again when nobody uses
 *             the ring any more, there is nothing to destroy
 *   bytes     of the memory, weft_spsc_bytes() or more
 *
 * Returns 0, or -EINVAL: weft_spsc_bytes() is 0 for these arguments or more
 *   than `bytes`, or the memory is not aligned.
 *
 * Blocks     never.
 * Orders     the caller sees to it that this happens before every other use.
 * See        weft_spsc_attach()
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_spsc_init(struct weft_spsc **ring, void *memory,
	size_t bytes, size_t capacity, size_t elem_bytes);

/*
 * weft_spsc_attach - use a ring that another process has made
 *
 *   memory, bytes  the mapping in this process, at any aligned address
 *
 * The two processes trust each other: one that writes into the ring by other
 * means can make the other read and write anywhere.
 *
 * Returns 0, or
 *   -EINVAL  the memory is not aligned, or holds no ring
 *   -EPROTO  a ring of another version of weft
 *   -EMSGSIZE  the ring is longer than `bytes`
 *
 * Blocks     never.
 * Orders     when it has returned 0, what was done before weft_spsc_init()
 *            returned has happened before.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_spsc_attach(struct weft_spsc **ring,
	void *memory, size_t bytes);

/*
 * weft_spsc_push, weft_spsc_push_many - put elements at the end
 *
 *   elem, elems  elem_bytes each, copied before the call returns
 *
 * push returns 0, or -EAGAIN: the ring is full.
 *
 * push_many returns how many it has put in, the first of `elems`: `count`, or
 * as many as there was room for at some moment of the call. The consumer sees
 * all of them at once.
 *
 * Blocks     never.
 * Orders     a push happens before the return of the pop that gets its element.
 *            A pop happens before the return of a push into the place that it
 *            has left.
 * Progress   wait-free: one load, one store and the copy, and one more load
 *            when the ring has filled up since the last look. Nothing that the
 *            consumer does, or stops doing, makes it longer.
 * Not for    more than one producer at a time: see weft_ring_push().
 * See        weft_spsc_pop()
 * Source     L. Lamport, "Specifying concurrent program modules", 1983.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_spsc_push(struct weft_spsc *ring,
	const void *elem);
WEFT_API WEFT_MUST_USE size_t weft_spsc_push_many(struct weft_spsc *ring,
	const void *elems, size_t count);

/*
 * weft_spsc_pop, weft_spsc_pop_many - take elements from the beginning
 *
 *   elem, elems  room for elem_bytes each
 *
 * pop returns 0, or -EAGAIN: the ring is empty, and *elem is untouched.
 *
 * pop_many returns how many it has taken: `count`, or as many as there were at
 * some moment of the call.
 *
 * Blocks     never.
 * Orders     as for weft_spsc_push().
 * Progress   wait-free, as for weft_spsc_push().
 * Not for    more than one consumer at a time: see weft_ring_pop().
 * See        weft_spsc_push()
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_spsc_pop(struct weft_spsc *ring, void *elem);
WEFT_API WEFT_MUST_USE size_t weft_spsc_pop_many(struct weft_spsc *ring,
	void *elems, size_t count);

/*
 * weft_spsc_count_hint - how many elements were in the ring, roughly
 *
 * Returns a number from 0 to the capacity. For the producer it is at least
 * what is in the ring now, for the consumer at most; for others it was right
 * at no particular moment.
 *
 * Blocks     never.
 * Progress   wait-free.
 * Since      0.1
 */
WEFT_API size_t weft_spsc_count_hint(const struct weft_spsc *ring);

#ifdef __cplusplus
}
#endif
#endif
