/* SPDX-License-Identifier: MIT */
/*
 * mem/stack.h - stacks for threads: size classes and guards, without one mapping for
 * each
 *
 * Sizes are rounded up to a power of two, from 16 KiB to 1 GiB. Each stack has one page
 * more, for its guard. What a larger guard takes beyond that is added to the size first,
 * so that the requested stack stays. Any kernel thread may call all functions;
 * wefti_stack_of and wefti_stack_stat may also be called in signal handlers.
 */
#ifndef WEFT_MEM_STACK_H
#define WEFT_MEM_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define WEFTI_STACK_SHIFT	14		/* class 0 is 16 KiB */
#define WEFTI_STACK_CLASSES	17		/* class 16 is 1 GiB */
#define WEFTI_STACK_LEAST	((size_t)1 << WEFTI_STACK_SHIFT)
#define WEFTI_STACK_MOST \
	(WEFTI_STACK_LEAST << (WEFTI_STACK_CLASSES - 1))

struct wefti_stack {
	void *low;		/* the lowest address above the guard */
	void *top;		/* one past the highest */
	uint32_t index;		/* in stack.c's table */
	uint32_t class;
};

enum wefti_stack_where {
	WEFTI_STACK_NONE,	/* not in a stack of ours */
	WEFTI_STACK_INSIDE,
	WEFTI_STACK_GUARD,
};

struct wefti_stack_stat {
	size_t stacks;		/* made so far; idle ones are kept */
	size_t in_use;
	size_t guarded;
	size_t mapped_bytes;	/* address space */
	size_t vmas_most;	/* mappings, if no two neighbours merge */
};

/* Returns the class for stacks of this size; -EINVAL below 16 KiB or above 1 GiB. */
int wefti_stack_class(size_t bytes);

/*
 * Returns a stack of at least `bytes` above its guard (see above). guard_bytes 0: no
 * guard. Its memory is zeros or what its last user left. Returns 0; -EINVAL: a size is
 * out of range; -ENOMEM: no address space or memory; -EAGAIN: the kernel grants no more
 * guards, which one line on stderr explains the first time.
 */
MUST_USE int wefti_stack_alloc(size_t bytes, size_t guard_bytes,
			       struct wefti_stack *out);

/*
 * Makes the stack available for reuse; keeps its memory and its guard.
 * wefti_stack_give_back() keeps the guard alone (mem/stack_trim.h).
 */
void wefti_stack_free(struct wefti_stack *s);

/*
 * For a held stack: one past its highest address; and a word for its holder, a link for
 * a depot of held stacks (a pool of idle bodies).
 */
void *wefti_stack_top(uint32_t index);
_Atomic uint32_t *wefti_stack_link(uint32_t index);

/*
 * Says in which stack an address is, used or idle, and then fills *out. It walks the
 * slabs: some microseconds for a million stacks.
 */
enum wefti_stack_where wefti_stack_of(const void *address,
				      struct wefti_stack *out);

/* Walks all stacks; the counts are hints while other threads work. */
void wefti_stack_stat(struct wefti_stack_stat *out);

#endif
