/* SPDX-License-Identifier: MIT */
/*
 * weft/stack.h - lock-free stacks for any number of threads: last in, first out
 *
 * The elements are the caller's and hold the links themselves, so no call
 * allocates. A stack knows its elements by pointers (weft_stack_*), which takes
 * a processor that changes 16 bytes at once, or by their numbers in a table
 * (weft_index_stack_*), which every processor can, and which processes that
 * have the table and the stack at different addresses can share.
 *
 * Zero-filled is an empty stack with the usual back-off, and there is nothing
 * to destroy. An element is in one stack at a time. Its memory must stay
 * readable until no pop that began while it was in the stack is under way: a
 * thread that loses may still look at its link, though it never uses what it
 * finds. No function starts the runtime or enters the kernel.
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

/* No element; weft_index_stack_pop(). */
#define WEFT_INDEX_NONE		UINT32_MAX

/*
 * weft_stack_push - put an element on top
 *
 *   node  the element's link; it is the stack's until a pop returns it
 *
 * Blocks     never.
 * Orders     a push happens before the return of the pop that gets its element.
 * Progress   lock-free: a stopped thread hinders no other. Who loses against
 *            others spins for a moment: see weft_stack_set_back_off().
 * Not for    a node that is in a stack. A processor that cannot change 16 bytes
 *            at once (x86-64 of 2004): the program ends with a message.
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
 * Returns the node pushed last, or NULL: at some moment of the call the stack
 *   was empty.
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
 * weft_stack_is_empty - was the stack empty at some moment of the call?
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
 * weft_stack_set_back_off, weft_index_stack_set_back_off - how losers spin
 *
 *   most  pauses of the processor, at most 65536. Who loses in a call waits for
 *         1, 2, 4 ... of them before the next try, but never for more than
 *         `most`; 0: nobody waits.
 *
 * The default is 64. It may be changed at any time.
 *
 * Returns 0, or
 *   -EINVAL   `most` is too large
 *   -ENOTSUP  weft_stack_set_back_off() only: the processor cannot change 16
 *             bytes at once
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
 *   links   the link of the table's element 0, aligned to 4 bytes; links are of
 *           type uint32_t
 *   stride  bytes from a link to the next element's, a multiple of 4
 *   index   of the element, less than WEFT_INDEX_NONE
 *
 * Each call for one stack names the same table, at its address in the calling
 * process.
 *
 * Blocks     never.
 * Orders     a push happens before the return of the pop that gets its element.
 * Progress   lock-free, as for weft_stack_push().
 * Not for    an index that is in a stack. A thread that is stopped inside a
 *            call for exactly a multiple of 2^32 changes takes an old stack for
 *            the present one; at ten million changes a second those take 7
 *            minutes.
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
 * Returns the index pushed last, or WEFT_INDEX_NONE: at some moment of the call
 *   the stack was empty.
 *
 * Blocks     never.
 * Orders     as for weft_index_stack_push().
 * Progress   lock-free, as for weft_stack_push().
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE uint32_t weft_index_stack_pop(
	struct weft_index_stack *stack, void *links, size_t stride);

/*
 * weft_index_stack_is_empty - was the stack empty at some moment of the call?
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
