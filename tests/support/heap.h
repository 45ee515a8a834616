/* SPDX-License-Identifier: MIT */
/* heap.h - how much malloc has given out; mallinfo() counts to 4 GiB only */
#ifndef WEFT_TESTS_HEAP_H
#define WEFT_TESTS_HEAP_H

#include <malloc.h>
#include <stddef.h>

static inline size_t heap_in_use(void)
{
#ifdef HAVE_MALLINFO2
	return mallinfo2().uordblks;
#else
	return (unsigned)mallinfo().uordblks;
#endif
}

/* With a mapping of their own. */
static inline size_t heap_mapped(void)
{
#ifdef HAVE_MALLINFO2
	return mallinfo2().hblkhd;
#else
	return (unsigned)mallinfo().hblkhd;
#endif
}

#endif
