/* SPDX-License-Identifier: MIT */
/* mem/stack_trim.h - many stacks end at once */
#ifndef WEFT_MEM_STACK_TRIM_H
#define WEFT_MEM_STACK_TRIM_H

#include <stdint.h>

/*
 * Returns the memory of n stacks to the system, and makes the stacks available again, with
 * their guards. The caller holds the stacks. Sorts the indexes. Neighbours take one system
 * call together.
 */
void wefti_stack_give_back(uint32_t *index, unsigned n);

#endif
