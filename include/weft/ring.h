/* SPDX-License-Identifier: MIT */
/*
 * weft/ring.h - a bounded queue for any number of producers and consumers
 *
 * Lock-free in the strict sense: a producer or consumer that is stopped at any
 * instruction, for ever, hinders no other, neither those behind it nor by what
 * "full" and "empty" mean. The ring lies in memory that the caller gives,
 * without pointers in it, so that processes can share it. Elements are 64 bits.
 * No function starts the runtime or enters the kernel.
 */
#ifndef WEFT_RING_H
#define WEFT_RING_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the memory of a ring is aligned, in bytes. */
#define WEFT_RING_ALIGN		128

struct weft_ring;

/*
 * weft_ring_bytes - how much memory a ring takes
 *
 *   capacity  elements that fit, a power of two
 *
 * Returns the bytes, or 0: capacity is no power of two, or too large.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API size_t weft_ring_bytes(size_t capacity);

/*
 * weft_ring_init - make an empty ring
 *
 *   ring      set to the ring, which begins at `memory`
 *   memory    aligned to WEFT_RING_ALIGN; there is nothing to destroy
 *   bytes     of the memory, weft_ring_bytes() or more
 *
 * Returns 0, or
 *   -EINVAL   weft_ring_bytes() is 0 or more than `bytes`, or the memory is not
 *             aligned
 *   -ENOTSUP  the processor cannot change 16 bytes at once (x86-64 of 2004)
 *
 * Blocks     never.
 * Orders     the caller sees to it that this happens before every other use.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_ring_init(struct weft_ring **ring, void *memory,
	size_t bytes, size_t capacity);

/*
 * weft_ring_attach - use a ring that another process has made
 *
 *   memory, bytes  the mapping in this process, at any aligned address
 *
 * Returns 0, or
 *   -EINVAL    the memory is not aligned, or holds no ring
 *   -EPROTO    a ring of another version of weft
 *   -EMSGSIZE  the ring is longer than `bytes`
 *
 * Blocks     never.
 * Orders     when it has returned 0, what was done before weft_ring_init()
 *            returned has happened before.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_ring_attach(struct weft_ring **ring,
	void *memory, size_t bytes);

/*
 * weft_ring_push - put an element at the end
 *
 * Returns 0, or -EAGAIN: at some moment of the call, `capacity` elements were in
 *   the ring.
 *
 * Blocks     never.
 * Orders     a push happens before the return of the pop that gets its element.
 *            A pop happens before the return of a push into the place that it
 *            has left.
 * Progress   lock-free. A call is undone or goes through as a whole.
 * Fairness   none: under contention the same caller may lose again and again.
 * See        weft_ring_pop(), weft_spsc_push()
 * Source     C. Shann, T. Huang, C. Chen, "A practical nonblocking queue
 *            algorithm using compare-and-swap", ICPADS 2000.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_ring_push(struct weft_ring *ring,
	uint64_t element);

/*
 * weft_ring_pop - take the element at the beginning
 *
 * Returns 0 with the oldest in *element, or -EAGAIN: at some moment of the call
 *   there was none; *element is untouched.
 *
 * Blocks     never.
 * Orders     as for weft_ring_push().
 * Progress   lock-free, as for weft_ring_push().
 * See        weft_ring_push()
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_ring_pop(struct weft_ring *ring,
	uint64_t *element);

#ifdef __cplusplus
}
#endif
#endif
