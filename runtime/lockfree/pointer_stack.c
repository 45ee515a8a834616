/* SPDX-License-Identifier: MIT */
/*
 * lockfree/pointer_stack.c - a lock-free intrusive stack with a tagged head
 *
 * Structure
 *   The head is a pair: the top, or 0, and a tag that counts the changes. Each
 *   element links to the one below it.
 *
 * States of an element
 *   OUT	a popper's, or never pushed; its link means nothing
 *   IN		reachable from the top
 *
 *   OUT --push--> IN --pop--> OUT
 *
 * Writers
 *   back_off.most  public_stacks.h: wefti_back_off_set
 *   pointer_stack.head  weft_stack_pop, weft_stack_push
 *   *link_of()  weft_stack_push
 *
 * Invariants
 *   I1  The link of an element is written only by its pusher, while it is OUT.
 *   I2  Each change of the head adds 1 to the tag.
 *
 * Linearization
 *   push, pop: at the CAS of the head. NULL from pop, and is_empty: at the load of the
 *   head's lo.
 *
 * Progress
 *   push, pop: lock-free, as a failed CAS is the success of another and the back-off is
 *   bounded. is_empty: wait-free.
 *
 * ABA and reclamation
 *   A popper reads the link of a top that others may pop and push again in between. The
 *   tag then differs and the CAS fails. Tag and top are read one after the other; if
 *   the head changed in between, the CAS fails as well. By contract the memory of
 *   elements stays readable. The limit: a thread that stops between its loads and its
 *   CAS for exactly a multiple of 2^64 changes.
 *
 * Pairs
 *   P1  the CAS of the head, by push	-> pop's load of its hi: the link, and
 *	 whatever the pusher did to the element
 *
 *   The tag names a change, and every change continues the release sequences of the
 *   pushes before it. A pop whose CAS succeeds has read its top's link after the load
 *   of the tag. So it has read the link with which the top was pushed.
 *
 * Source
 *   R. K. Treiber, "Systems programming: coping with parallelism", IBM 1986.
 *   The same with an index and a tag in one word: lockfree/depot.h. The
 *   back-off: T. Anderson, "The performance of spin lock alternatives for
 *   shared-memory multiprocessors", IEEE TPDS 1990.
 */
#include "lockfree/public_stacks.h"

#include <errno.h>

#include "base/check.h"

/* Threads that have lost read links too, so links are atomic. */
static _Atomic uintptr_t *link_of(uint64_t node)
{
	return (void *)(uintptr_t)node;
}

static void check_processor(void)
{
	WEFT_CHECK(wefti_arch_wide_can() & WEFTI_WIDE_CAS,
		   "weft_stack: this processor cannot change 16 bytes at once");
}

/* OUT -> IN */
void weft_stack_push(struct weft_stack *stack, struct weft_stack_node *node)
{
	struct wefti_pointer_stack *s = wefti_pointer_stack_of(stack);
	const uint64_t top = (uintptr_t)node;
	unsigned lost = 0;

	check_processor();
	for (;;) {
		struct wefti_wide old;	/* guesses; the CAS checks them */

		old.hi = pair_hi_relaxed(&s->head);
		old.lo = pair_lo_relaxed(&s->head);
		store_relaxed(link_of(top), (uintptr_t)old.lo);

		const struct wefti_wide new = { top, old.hi + 1 };	/* I2 */

		if (pair_cas_acq_rel(&s->head, &old, new))  /* P1: to pop */
			return;
		wefti_stack_back_off(&s->back_off, &lost);
	}
}

/* IN -> OUT */
struct weft_stack_node *weft_stack_pop(struct weft_stack *stack)
{
	struct wefti_pointer_stack *s = wefti_pointer_stack_of(stack);
	unsigned lost = 0;

	check_processor();
	for (;;) {
		struct wefti_wide old;

		old.hi = pair_hi_acquire(&s->head);	/* P1: from push */
		old.lo = pair_lo_relaxed(&s->head);	/* a guess */
		if (old.lo == 0)
			return NULL;

		const struct wefti_wide new = {
			load_relaxed(link_of(old.lo)), old.hi + 1	/* I2 */
		};

		if (pair_cas_acq_rel(&s->head, &old, new))  /* P1: goes on */
			return (void *)(uintptr_t)old.lo;
		wefti_stack_back_off(&s->back_off, &lost);
	}
}

int weft_stack_is_empty(const struct weft_stack *stack)
{
	return pair_lo_relaxed(&wefti_pointer_stack_of(stack)->head) == 0;
}

int weft_stack_set_back_off(struct weft_stack *stack, unsigned most)
{
	if (!(wefti_arch_wide_can() & WEFTI_WIDE_CAS))
		return -ENOTSUP;
	return wefti_back_off_set(&wefti_pointer_stack_of(stack)->back_off, most) ?
	       -EINVAL : 0;
}
