/* SPDX-License-Identifier: MIT */
/*
 * lockfree/public_stacks.h - the layout of the public stacks, and how a thread spins that
 * has lost a race
 *
 * For pointer_stack.c, index_stack.c and their tests. pointer_stack.c and depot.h have
 * the algorithms and their arguments. The stacks that threads run on: mem/stack.h.
 */
#ifndef WEFT_LOCKFREE_PUBLIC_STACKS_H
#define WEFT_LOCKFREE_PUBLIC_STACKS_H

#include <weft/stack.h>

#include "lockfree/back_off.h"
#include "lockfree/depot.h"
#include "lockfree/pair.h"

#define WEFTI_BACK_OFF_DEFAULT	64u
#define WEFTI_BACK_OFF_MAX	65536u

/*
 * Pauses + 1, so that 0 is the default. Any thread may write it; it is only a number.
 */
struct wefti_back_off {
	_Atomic uint64_t most;
};

struct wefti_pointer_stack {
	struct wefti_pair head;		/* lo: the top or 0, hi: the tag */
	struct wefti_back_off back_off;
	uint64_t unused;
};

struct wefti_index_stack {
	struct wefti_depot depot;
	struct wefti_back_off back_off;
};

_Static_assert(sizeof(struct weft_stack) ==
		       sizeof(struct wefti_pointer_stack) &&
	       _Alignof(struct weft_stack) ==
		       _Alignof(struct wefti_pointer_stack) &&
	       sizeof(struct weft_index_stack) ==
		       sizeof(struct wefti_index_stack) &&
	       WEFT_INDEX_NONE == WEFTI_DEPOT_NONE,
	       "the public structs are ours");

/* Through void *: the public types have no _Atomic, which C++ does not have. */
static inline struct wefti_pointer_stack *
wefti_pointer_stack_of(const struct weft_stack *stack)
{
	return (void *)(uintptr_t)stack;
}

static inline struct wefti_index_stack *
wefti_index_stack_of(const struct weft_index_stack *stack)
{
	return (void *)(uintptr_t)stack;
}

static inline void wefti_stack_back_off(const struct wefti_back_off *b,
					unsigned *lost)
{
	uint64_t set = load_relaxed(&b->most);

	wefti_back_off(lost, 1, set ? set - 1 : WEFTI_BACK_OFF_DEFAULT);
}

/* Returns 0, or -1 if that is too many. */
static inline int wefti_back_off_set(struct wefti_back_off *b, unsigned most)
{
	if (most > WEFTI_BACK_OFF_MAX)
		return -1;
	store_relaxed(&b->most, (uint64_t)most + 1);
	return 0;
}

#endif
