/* SPDX-License-Identifier: MIT */
/*
 * weft/spsc.h - a wait-free ring from one producer to one consumer
 *
 * The ring lies in memory that the caller provides and holds no pointers. So it can also
 * lie in a mapping that two processes have at different addresses. Elements have one
 * size and are copied in and out, in order.
 *
 * At any time at most one thread is the producer and at most one is the consumer. They
 * may be the same thread, threads of weft or not, or in two processes. A thread that
 * takes over a role must have synchronized with the thread that had it before. No
 * function starts the runtime or enters the kernel.
 */
#ifndef WEFT_SPSC_H
#define WEFT_SPSC_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The alignment of a ring's memory, in bytes. */
#define WEFT_SPSC_ALIGN		128

struct weft_spsc;

/*
 * weft_spsc_bytes - how much memory a ring needs
 *
 *   capacity    number of elements that fit, a power of two
 *   elem_bytes  size of each element, 1 to 65536
 *
 * The memory has to be aligned to WEFT_SPSC_ALIGN. posix_memalign(3) and mmap(2) give
 * such memory.
 *
 * Returns the number of bytes. 0: an argument is out of range, or the sum is more than
 * half of the address space.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API size_t weft_spsc_bytes(size_t capacity, size_t elem_bytes);

/*
 * weft_spsc_init - make an empty ring
 *
 *   ring                  receives the ring, which begins at memory
 *   memory                aligned to WEFT_SPSC_ALIGN. There is nothing to destroy:
 *                         it is the caller's again when no thread uses the ring.
 *   bytes                 size of the memory, at least what weft_spsc_bytes() says
 *   capacity, elem_bytes  see weft_spsc_bytes()
 *
 * Returns 0, or -EINVAL: weft_spsc_bytes() is 0 for these arguments or more than bytes,
 * or the memory is not aligned.
 *
 * Blocks     never.
 * Orders     the caller makes sure that this happens before every other use.
 * See        weft_spsc_attach()
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_spsc_init(struct weft_spsc **ring, void *memory,
	size_t bytes, size_t capacity, size_t elem_bytes);

/*
 * weft_spsc_attach - use a ring that another process has made
 *
 *   ring           receives the ring
 *   memory, bytes  the mapping in this process, at any aligned address
 *
 * The two processes must trust each other: a process that writes into the ring in
 * another way can make the other process read and write anywhere.
 *
 * Returns 0, or
 *   -EINVAL    the memory is not aligned, or holds no ring
 *   -EPROTO    the ring was made by another version of weft
 *   -EMSGSIZE  the ring is longer than bytes
 *
 * Blocks     never.
 * Orders     whatever was done before weft_spsc_init() returned happens before a
 *            return of 0.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_spsc_attach(struct weft_spsc **ring,
	void *memory, size_t bytes);

/*
 * weft_spsc_push, weft_spsc_push_many - put elements at the end
 *
 *   elem, elems  elem_bytes each, copied before the call returns
 *   count        number of elements
 *
 * Returns, from weft_spsc_push(), 0, or -EAGAIN: the ring is full.
 *
 * weft_spsc_push_many() returns how many elements it put in, from the first on: count, or
 * as many as there was room for at some moment of the call. The consumer sees all of
 * them at once.
 *
 * Blocks     never.
 * Orders     a push happens before the return of the pop that gets its element. A
 *            pop happens before the return of the push that reuses its place.
 * Progress   wait-free: one load, one store and the copy, and one more load if the
 *            ring has filled up since the last look. Nothing that the consumer
 *            does, or stops doing, makes the call longer.
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
 *   count        number of elements
 *
 * Returns, from weft_spsc_pop(), 0, or -EAGAIN: the ring is empty, and *elem is
 * untouched.
 *
 * weft_spsc_pop_many() returns how many elements it took: count, or as many as there
 * were at some moment of the call.
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
 * weft_spsc_count_hint - about how many elements are in the ring
 *
 * Returns a number from 0 to the capacity. For the producer it is at least the number of
 * elements in the ring now; for the consumer it is at most that. For any other thread it
 * was right at no particular moment.
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
