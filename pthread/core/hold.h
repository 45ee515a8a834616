/* SPDX-License-Identifier: MIT */
/*
 * pthread/core/hold.h - short locks of this layer's own
 *
 * They are held for a few list operations. A handler must not run while its thread holds
 * one, because the handler might want the same lock. And no thread may be preempted while
 * it holds one. So a thread of weft is inside the runtime meanwhile, and other threads
 * block their signals. A thread that finds a lock taken sleeps in the kernel.
 *
 * Rejected: lockfree/lock.h as the lock. Its count of waiters saves wake-ups where many
 * threads lock all the time, which they do not here. The models of pthread/ explore the
 * lock in each of their scenarios, and would take three times as many executions.
 *
 * Writers
 *   *word  wefti_hold_lock, wefti_hold_unlock
 *
 * Pairs
 *   P1  unlock's exchange -> lock's CAS or exchange: what the lock protects
 */
#ifndef WEFT_PTHREAD_CORE_HOLD_H
#define WEFT_PTHREAD_CORE_HOLD_H

#include "os/call/futex.h"
#include "os/signal/signal.h"
#include "pthread/core/self.h"

struct wefti_hold {
	struct wefti_thread *self;	/* NULL: not a thread of weft */
	uint64_t mask;
};

/* self: the caller, or NULL. */
static inline struct wefti_hold wefti_hold_begin_as(struct wefti_thread *self)
{
	struct wefti_hold h = { NULL, 0 };

	if (likely(self && self->kind != WEFTI_KIND_FOREIGN))
		h.self = wefti_enter_as(self);
	else
		h.mask = wefti_os_signals_block();
	return h;
}

static inline struct wefti_hold wefti_hold_begin(void)
{
	return wefti_hold_begin_as(wefti_self());
}

static inline void wefti_hold_end(struct wefti_hold h)
{
	if (likely(h.self))
		wefti_leave(h.self);
	else
		wefti_os_signals_restore(h.mask);
}

/* The word: 0 free, 1 taken, 2 taken and waited for. Call between begin and end. */
static inline void wefti_hold_lock(_Atomic uint32_t *word)
{
	uint32_t free = 0;

	if (likely(cas_seq_cst(word, &free, 1)))	/* P1 */
		return;
	while (xchg_seq_cst(word, 2) != 0)	/* P1 */
		wefti_os_futex_wait(word, 2, INT64_MAX);
}

static inline void wefti_hold_unlock(_Atomic uint32_t *word)
{
	if (unlikely(xchg_seq_cst(word, 0) == 2))	/* P1 */
		wefti_os_futex_wake(word, 1);
}

/* Both in one: where a call takes one lock once. */
static inline struct wefti_hold wefti_hold_enter(_Atomic uint32_t *word)
{
	struct wefti_hold h = wefti_hold_begin();

	wefti_hold_lock(word);
	return h;
}

static inline void wefti_hold_leave(_Atomic uint32_t *word, struct wefti_hold h)
{
	wefti_hold_unlock(word);
	wefti_hold_end(h);
}

#endif
