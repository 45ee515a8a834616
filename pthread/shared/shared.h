/* SPDX-License-Identifier: MIT */
/*
 * pthread/shared/shared.h - who we are to other processes, and waiting for them
 *
 * libc marks what processes share by the kernel's id of the owner. A green
 * thread has none: its own id is made up, and other processes have threads of
 * the same. To them all of ours are one kernel thread, the guard (the receiver
 * of signals), which lives as long as the process and does nothing with locks
 * itself. Which of our threads it is stands beside it, for us.
 */
#ifndef WEFT_PTHREAD_SHARED_SHARED_H
#define WEFT_PTHREAD_SHARED_SHARED_H

#include <stdint.h>

#include "pthread/core/self.h"
#include "pthread/shared/watch.h"

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
 * Until a lock's word changes from value, or for no reason. *watch is what
 * wefti_watch_begin() gave; where it is NULL a green thread waits in a region.
 * Handlers run between two watches. Returns 0, or ETIMEDOUT at the deadline.
 */
int wefti_shared_wait(struct wefti_watch **watch, enum wefti_watch_kind kind,
		      _Atomic uint32_t *word, uint32_t value,
		      int64_t deadline);

/* The lock has been given back: one who waits is woken, here or everywhere. */
void wefti_shared_wake(const _Atomic uint32_t *word);

/*
 * A kernel thread's own wait, as above. In another file than those who have to
 * clean up when libc cancels it there.
 */
int wefti_shared_wait_kernel(_Atomic uint32_t *word, uint32_t value,
			     int64_t deadline);

/*
 * The kernel's waiters. Nothing where the word has been unmapped since. One alone may
 * be a watcher in whose process nobody waits any more, as futex_waitv() knows no bits
 * to tell them apart: of a lock it passes that on, elsewhere most is INT32_MAX.
 */
void wefti_shared_wake_kernel(const _Atomic uint32_t *word, int most);

#endif
