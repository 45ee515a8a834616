/* SPDX-License-Identifier: MIT */
/*
 * weft/ring.h - a bounded queue for any number of producers and consumers
 *
 * Lock-free in the strict sense: a producer or consumer that is stopped for ever, at
 * any instruction, hinders no other. In particular it delays no thread behind it, and
 * never makes the ring seem full or empty.
 *
 * The ring lies in memory that the caller provides and holds no pointers, so processes
 * can share it. Elements are 64 bits. No function starts the runtime or enters the
 * kernel.
 */
#ifndef WEFT_RING_H
#define WEFT_RING_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The alignment of a ring's memory, in bytes. */
#define WEFT_RING_ALIGN		128

struct weft_ring;

/*
 * weft_ring_bytes - how much memory a ring needs
 *
 *   capacity  number of elements that fit, a power of two
 *
 * The memory has to be aligned to WEFT_RING_ALIGN. posix_memalign(3) and mmap(2) give
 * such memory.
 *
 * Returns the number of bytes, or 0: capacity is not a power of two, or too large.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API size_t weft_ring_bytes(size_t capacity);

/*
 * weft_ring_init - make an empty ring
 *
 *   ring      receives the ring, which begins at memory
 *   memory    aligned to WEFT_RING_ALIGN; there is nothing to destroy
 *   bytes     size of the memory, at least weft_ring_bytes(capacity)
 *   capacity  see weft_ring_bytes()
 *
 * Returns 0, or
 *   -EINVAL   weft_ring_bytes() is 0 or more than bytes, or the memory is not
 *             aligned
 *   -ENOTSUP  the processor has no 16-byte compare-and-swap (x86-64 of 2004)
 *
 * Blocks     never.
 * Orders     the caller makes sure that this happens before every other use.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_ring_init(struct weft_ring **ring, void *memory,
	size_t bytes, size_t capacity);

/*
 * weft_ring_attach - use a ring that another process has made
 *
 *   ring           receives the ring
 *   memory, bytes  the mapping in this process, at any aligned address
 *
 * Returns 0, or
 *   -EINVAL    the memory is not aligned, or holds no ring
 *   -EPROTO    the ring was made by another version of weft
 *   -EMSGSIZE  the ring is longer than bytes
 *
 * Blocks     never.
 * Orders     whatever was done before weft_ring_init() returned happens before a
 *            return of 0.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_ring_attach(struct weft_ring **ring,
	void *memory, size_t bytes);

/*
 * weft_ring_push - put an element at the end
 *
 * Returns 0, or -EAGAIN: at some moment of the call the ring held capacity elements.
 *
 * Blocks     never.
 * Orders     a push happens before the return of the pop that gets its element. A
 *            pop happens before the return of the push that reuses its place.
 * Progress   lock-free. If a caller dies inside a call, the call takes effect as a
 *            whole or not at all.
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
 * Returns 0 with the oldest element in *element. -EAGAIN: at some moment of the call the
 * ring was empty; *element is untouched.
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
