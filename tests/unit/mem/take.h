/* SPDX-License-Identifier: MIT */
/* take.h - a stack for a test, and how many are taken */
#ifndef WEFT_TESTS_MEM_TAKE_H
#define WEFT_TESTS_MEM_TAKE_H

#include "mem/stack.h"
#include "probe.h"

#define KB	((size_t)1024)

static size_t in_use(void)
{
	struct wefti_stack_stat stat;

	wefti_stack_stat(&stat);
	return stat.in_use;
}

static inline size_t bytes_of(const struct wefti_stack *s)
{
	return (size_t)((char *)s->top - (char *)s->low);
}

static struct wefti_stack take(size_t bytes, size_t guard)
{
	struct wefti_stack s = { 0 };

	CU_ASSERT_EQUAL_FATAL(wefti_stack_alloc(bytes, guard, &s), 0);
	return s;
}

#endif
