/* SPDX-License-Identifier: MIT */
/*
 * mem/stack_code.h - executable stacks, for programs that ask the linker for them
 *
 * GCC's nested functions put some code on the stack when their address is taken.
 */
#ifndef WEFT_MEM_STACK_CODE_H
#define WEFT_MEM_STACK_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/*
 * From now on code may run on all stacks, present and future. For any thread, any
 * number of times. Returns 0, or -ENOMEM: on some stacks it may not.
 */
MUST_USE int wefti_stack_allow_code(void);
int wefti_stack_allows_code(void);

/*
 * Called by the maker of a slab. begin: for the slab's memory, before its stacks can be
 * used. end: for its first stack, when others can find the stacks. begin returns 0 or
 * -ENOMEM.
 */
int wefti_stack_code_begin(void *low, size_t bytes);
void wefti_stack_code_end(uint32_t index);

#endif
