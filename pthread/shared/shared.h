/* SPDX-License-Identifier: MIT */
/*
 * pthread/shared/shared.h - our identity for other processes, and waiting for them
 *
 * libc marks objects that processes share with the kernel's id of the owner. A green
 * thread has no such id: its own id is made up, and threads of other processes may have
 * the same. So for other processes all our threads are one kernel thread, the guard. The
 * guard is the receiver of signals: it lives as long as the process, and takes no such
 * locks itself. A second word in the object says, for us, which of our threads owns it.
 */
#ifndef WEFT_PTHREAD_SHARED_SHARED_H
#define WEFT_PTHREAD_SHARED_SHARED_H

#include <stdint.h>

#include "pthread/core/self.h"
#include "pthread/shared/watch.h"

/* begin: called by the guard when it starts. forget: in the child of a fork. */
void wefti_guard_begin(void);
void wefti_guard_forget(void);

/* The guard's kernel id; 0: the runtime is off, and locks are libc's. */
int wefti_guard(void);

/* The caller's id, unique among the threads of all processes; never 0. */
static inline uint64_t wefti_shared_me(void)
{
	return (uint64_t)(uint32_t)wefti_guard() << 32 |
	       (uint32_t)wefti_pt_id();
}

/*
 * Waits until a lock's word is not value. May return 0 for no reason. *watch comes from
 * wefti_watch_begin(); if it is NULL, a green thread waits in a region. Handlers run
 * between two watches. Returns 0, or ETIMEDOUT at the deadline.
 */
int wefti_shared_wait(struct wefti_watch **watch, enum wefti_watch_kind kind,
		      _Atomic uint32_t *word, uint32_t value,
		      int64_t deadline);

/* After an unlock: wakes one waiting thread here, or waiting threads of all processes. */
void wefti_shared_wake(const _Atomic uint32_t *word);

/*
 * The same wait for the calling kernel thread itself, in the kernel. It is in another
 * file than the callers that must clean up when libc cancels the thread in it.
 */
int wefti_shared_wait_kernel(_Atomic uint32_t *word, uint32_t value,
			     int64_t deadline);

/*
 * Wakes up to most waiters in the kernel. Does nothing if the word has been unmapped. A
 * single woken waiter may be a watcher in a process where no thread waits any more:
 * futex_waitv() has no bits that could tell watchers apart. For a lock that watcher
 * passes the wake-up on. For other words most is INT32_MAX.
 */
void wefti_shared_wake_kernel(const _Atomic uint32_t *word, int most);

#endif
