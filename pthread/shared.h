/* SPDX-License-Identifier: MIT */
/*
 * pthread/shared.h - who we are to other processes, and waiting for them
 *
 * libc marks what processes share by the kernel's id of the owner. A green
 * thread has none: its own id is made up, and other processes have threads of
 * the same. To them all of ours are one kernel thread, the guard (the receiver
 * of signals), which lives as long as the process and does nothing with locks
 * itself. Which of our threads it is stands beside it, for us.
 */
#ifndef WEFT_PTHREAD_SHARED_H
#define WEFT_PTHREAD_SHARED_H

#include <stdint.h>

#include "pthread/self.h"

/* By the guard, when it begins; in the child of a fork, where it is not. */
void wefti_guard_begin(void);
void wefti_guard_forget(void);

/* The kernel's id of it; 0: the runtime is off, and locks are libc's. */
int wefti_guard(void);

/* The caller among all threads of all processes; never 0. */
static inline uint64_t wefti_shared_me(void)
{
	return (uint64_t)(uint32_t)wefti_guard() << 32 |
	       (uint32_t)wefti_pt_id();
}

/*
 * Until the word changes from value, or for no reason. Returns 0, or ETIMEDOUT
 * at the deadline. A green thread waits in a region.
 */
int wefti_shared_wait(_Atomic uint32_t *word, uint32_t value,
		      int64_t deadline);
void wefti_shared_wake(_Atomic uint32_t *word);	/* one */

#endif
