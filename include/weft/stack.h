/* SPDX-License-Identifier: MIT */
/*
 * weft/stack.h - lock-free stacks for any number of threads: last in, first out
 *
 * The elements belong to the caller and hold the links themselves, so no call allocates.
 * There are two kinds of stacks. weft_stack_* links elements by pointers; it needs a
 * processor with a 16-byte compare-and-swap. weft_index_stack_* links elements by their
 * numbers in a table; every processor can do that. Processes can share such a stack and
 * its table even if they have them at different addresses.
 *
 * Zero-filled is an empty stack with the default back-off, and there is nothing to
 * destroy. An element is in one stack at a time.
 *
 * A pop that loses against another may still read the link of an element that has been
 * popped meanwhile; it never uses what it reads. So the memory of a popped element must
 * stay readable until every pop that began while the element was in the stack has
 * returned. No function starts the runtime or enters the kernel.
 */
#ifndef WEFT_STACK_H
#define WEFT_STACK_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The link in an element. */
struct weft_stack_node {
	struct weft_stack_node *weft_next;
};

struct weft_stack {
	uint64_t weft_private[4];
} __attribute__((aligned(16)));

struct weft_index_stack {
	uint64_t weft_private[2];
};

#define WEFT_STACK_INIT		{ { 0, 0, 0, 0 } }
#define WEFT_INDEX_STACK_INIT	{ { 0, 0 } }

/* weft_index_stack_pop(): no element. */
#define WEFT_INDEX_NONE		UINT32_MAX

/*
 * weft_stack_push - put an element on top
 *
 *   node  the link in the element; it belongs to the stack until a pop returns it
 *
 * Blocks     never.
 * Orders     a push happens before the return of the pop that gets its element.
 * Progress   lock-free: a stopped thread hinders no other. A call that loses against
 *            another spins for a moment: see weft_stack_set_back_off().
 * Not for    a node that is in a stack. On a processor without a 16-byte
 *            compare-and-swap (x86-64 of 2004) the program ends with a message.
 * See        weft_stack_pop(), weft_index_stack_push()
 * Source     R. K. Treiber, "Systems programming: coping with parallelism",
 *            1986, with a count of the changes beside the top.
 * Since      0.1
 */
WEFT_API void weft_stack_push(struct weft_stack *stack,
	struct weft_stack_node *node);

/*
 * weft_stack_pop - take the element on top
 *
 * Returns the node that was pushed last. NULL: the stack was empty at some moment of the
 * call.
 *
 * Blocks     never.
 * Orders     as for weft_stack_push().
 * Progress   lock-free, as for weft_stack_push().
 * Not for    as for weft_stack_push().
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE struct weft_stack_node *weft_stack_pop(
	struct weft_stack *stack);

/*
 * weft_stack_is_empty - tells whether the stack was empty at some moment of the call
 *
 * Returns 1 or 0.
 *
 * Blocks     never.
 * Orders     nothing.
 * Progress   wait-free.
 * Since      0.1
 */
WEFT_API int weft_stack_is_empty(const struct weft_stack *stack);

/*
 * weft_stack_set_back_off, weft_index_stack_set_back_off - how calls that lose spin
 *
 *   most  number of pause instructions, at most 65536. A call that loses waits for
 *         1, 2, 4 ... of them before each next try, but never for more than most.
 *         0: no call waits.
 *
 * The default is 64. It may be changed at any time.
 *
 * Returns 0, or
 *   -EINVAL   most is too large
 *   -ENOTSUP  weft_stack_set_back_off() only: the processor has no 16-byte
 *             compare-and-swap
 *
 * Blocks     never.
 * Source     T. Anderson, "The performance of spin lock alternatives for
 *            shared-memory multiprocessors", IEEE TPDS 1990.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_stack_set_back_off(struct weft_stack *stack,
	unsigned most);
WEFT_API WEFT_MUST_USE int weft_index_stack_set_back_off(
	struct weft_index_stack *stack, unsigned most);

/*
 * weft_index_stack_push - put an element of a table on top
 *
 *   links   the link of element 0 of the table, aligned to 4 bytes; a link has
 *           type uint32_t
 *   stride  bytes from one element's link to the next one's, a multiple of 4
 *   index   number of the element, less than WEFT_INDEX_NONE
 *
 * All calls for one stack must name the same table, at its address in the calling
 * process.
 *
 * Blocks     never.
 * Orders     a push happens before the return of the pop that gets its element.
 * Progress   lock-free, as for weft_stack_push().
 * Not for    an index that is in a stack. A limit: if a thread is stopped inside a
 *            call for exactly a multiple of 2^32 changes, it takes an old state of
 *            the stack for the present one. At ten million changes a second, 2^32
 *            changes take 7 minutes.
 * See        weft_index_stack_pop(), weft_stack_push()
 * Source     as for weft_stack_push(); numbers leave room for the count.
 * Since      0.1
 */
WEFT_API void weft_index_stack_push(struct weft_index_stack *stack,
	void *links, size_t stride, uint32_t index);

/*
 * weft_index_stack_pop - take the element on top
 *
 *   links, stride  as for weft_index_stack_push()
 *
 * Returns the index that was pushed last. WEFT_INDEX_NONE: the stack was empty at some
 * moment of the call.
 *
 * Blocks     never.
 * Orders     as for weft_index_stack_push().
 * Progress   lock-free, as for weft_stack_push().
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE uint32_t weft_index_stack_pop(
	struct weft_index_stack *stack, void *links, size_t stride);

/*
 * weft_index_stack_is_empty - tells whether it was empty at some moment of the call
 *
 * Returns 1 or 0.
 *
 * Blocks     never.
 * Orders     nothing.
 * Progress   wait-free.
 * Since      0.1
 */
WEFT_API int weft_index_stack_is_empty(const struct weft_index_stack *stack);

#ifdef __cplusplus
}
#endif
#endif
