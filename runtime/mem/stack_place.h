/* SPDX-License-Identifier: MIT */
/*
 * mem/stack_place.h - where a stack is, in one word
 *
 * low / 4096 : 50 | left - 1 : 9 | class : 5, and 0 for none.
 */
#ifndef WEFT_MEM_STACK_PLACE_H
#define WEFT_MEM_STACK_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "mem/dense.h"
#include "mem/stack.h"

/* `left` stacks of the slab from this one on, itself included. */
static ALWAYS_INLINE uint64_t wefti_place(uintptr_t low, uint32_t left,
					  unsigned class)
{
	return (uint64_t)low << 2 | (uint64_t)(left - 1) << 5 | class;
}

/* The lowest address, of the guard if there is one. */
static ALWAYS_INLINE uintptr_t wefti_place_low(uint64_t place)
{
	return (uintptr_t)(place >> 14 << 12);
}

static ALWAYS_INLINE uint32_t wefti_place_left(uint64_t place)
{
	return (uint32_t)(place >> 5 & 511) + 1;
}

static ALWAYS_INLINE unsigned wefti_place_class(uint64_t place)
{
	return (unsigned)place & 31;
}

static ALWAYS_INLINE size_t wefti_place_bytes(uint64_t place)
{
	return WEFTI_STACK_LEAST << wefti_place_class(place);
}

extern struct wefti_dense wefti_stack_records;	/* for its limit */

/* Of that index, below the limit; 0: it is being filled. For walks over all. */
uint64_t wefti_stack_place(uint32_t index);

/*
 * The lowest bytes of a stack that others leave alone where guards split mappings, as
 * before Linux 6.13: the guard, one page at least. 0: guards do not.
 */
size_t wefti_stack_split_bytes(uint32_t index);

#endif
