/* SPDX-License-Identifier: MIT */
/*
 * mem/stack_code.h - code on stacks, for programs that ask the linker for it
 *
 * Functions inside of functions, of GCC's, have some there when their address is
 * taken.
 */
#ifndef WEFT_MEM_STACK_CODE_H
#define WEFT_MEM_STACK_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/*
 * Code may run on all stacks from now on, those there are and those to come. Any
 * thread, any number of times. Returns 0, or -ENOMEM: on some it may not.
 */
MUST_USE int wefti_stack_allow_code(void);
int wefti_stack_allows_code(void);

/*
 * For who makes a slab: of its memory, before its stacks can be had; and when they
 * can be found by others, of its first one. The first returns 0 or -ENOMEM.
 */
int wefti_stack_code_begin(void *low, size_t bytes);
void wefti_stack_code_end(uint32_t index);

#endif
