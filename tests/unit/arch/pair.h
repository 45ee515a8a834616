/* SPDX-License-Identifier: MIT */
/* pair.h - two contexts that switch to each other; the other one has a stack of its own */
#ifndef WEFT_TESTS_ARCH_PAIR_H
#define WEFT_TESTS_ARCH_PAIR_H

#include "context.h"

#define STACK_BYTES	(64 * 1024)

/* After a loop without an end. */
#define NOWHERE		((struct wefti_arch_next){ NULL, NULL })

static struct wefti_context here, there;
static char stack[STACK_BYTES] __attribute__((aligned(64)));

static void *top_of_stack(void)
{
	return stack + STACK_BYTES;
}

static void *swap_to_there(void *value)
{
	return wefti_arch_switch(&here, &there, value);
}

static void *swap_to_here(void *value)
{
	return wefti_arch_switch(&there, &here, value);
}

#endif
