/* SPDX-License-Identifier: MIT */
/*
 * mem/stack_place.h - the place of a stack, in one word
 *
 * low / 4096 : 50 | left - 1 : 9 | class : 5; 0 means none.
 */
#ifndef WEFT_MEM_STACK_PLACE_H
#define WEFT_MEM_STACK_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "mem/dense.h"
#include "mem/stack.h"
#include "os/call/vm.h"

#define WEFTI_PLACE_TABLE_BYTES	((size_t)2 << 20)	/* with pages of 4 KiB */

/* In a mapping with this much slack: the lowest middle of a page table's range. */
static ALWAYS_INLINE uintptr_t wefti_place_first(void *mapping, size_t slack)
{
	const uintptr_t table = WEFTI_PLACE_TABLE_BYTES, half = table / 2;
	const uintptr_t low = (uintptr_t)mapping;

	return slack ? ((low + half + table - 1) & ~(table - 1)) - half : low;
}

/* `left`: the stacks of the slab from this one on, including it. */
static ALWAYS_INLINE uint64_t wefti_place(uintptr_t low, uint32_t left,
					  unsigned class)
{
	return (uint64_t)low << 2 | (uint64_t)(left - 1) << 5 | class;
}

/* The lowest address: that of the guard if there is one. */
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

/* A page of it is for the guard. */
static ALWAYS_INLINE size_t wefti_place_class_bytes(unsigned class)
{
	return (WEFTI_STACK_LEAST << class) + wefti_os_page_size();
}

static ALWAYS_INLINE size_t wefti_place_bytes(uint64_t place)
{
	return wefti_place_class_bytes(wefti_place_class(place));
}

extern struct wefti_dense wefti_stack_records;	/* for its limit */

/*
 * The place of the stack with that index, below the limit; 0: it is being filled. For
 * walks over all stacks.
 */
uint64_t wefti_stack_place(uint32_t index);
int wefti_stack_is_used(uint32_t index);

/*
 * The lowest bytes of a stack that must be left alone where guards split mappings
 * (before Linux 6.13): the guard, at least one page. 0: guards do not split mappings.
 */
size_t wefti_stack_split_bytes(uint32_t index);

#endif
