/* SPDX-License-Identifier: MIT */
/*
 * mutex/spinmutex.h - a mutex for green threads whose queue is behind a spin
 * lock: what weft's would be, were it not lock-free. For comparison only
 *
 * Strict: unlock hands it to the thread that has waited longest. Waiting
 * threads park; only the few instructions on the queue spin. But when the
 * kernel stops one that holds the spin lock, all the others spin for it.
 */
#ifndef WEFT_BENCH_MUTEX_SPINMUTEX_H
#define WEFT_BENCH_MUTEX_SPINMUTEX_H

#include <stdint.h>

#include "lockfree/atomic.h"

struct bench_spin_waiter;
struct wefti_thread;

/* Zero-filled is unlocked. */
struct bench_spin_mutex {
	_Atomic uint32_t guard;		/* 1: some thread is in the rest */
	uint32_t taken;
	struct wefti_thread *owner;
	struct bench_spin_waiter *first, *last;
};

/* 0, -EDEADLK: the caller has it; -EPERM: the caller does not. */
int bench_spin_lock(struct bench_spin_mutex *m);
int bench_spin_unlock(struct bench_spin_mutex *m);

#endif
