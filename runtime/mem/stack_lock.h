/* SPDX-License-Identifier: MIT */
/* mem/stack_lock.h - stacks that are locked in memory */
#ifndef WEFT_MEM_STACK_LOCK_H
#define WEFT_MEM_STACK_LOCK_H

/*
 * Called after mlockall(). Unused stacks need not be locked, as there may be many. A
 * stack that is given to a thread meanwhile may be unlocked too.
 */
void wefti_stack_unlock_idle(void);

#endif
