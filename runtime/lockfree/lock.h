/* SPDX-License-Identifier: MIT */
/*
 * lockfree/lock.h - a lock in one word: lock bit and congestion
 *
 * Structure
 *   word = locked:1 | woken:1 | inside:30. inside counts the owner and the threads that
 *   sleep for the lock or are about to; threads that still spin are not counted. woken
 *   is a hint that a thread that is inside is awake and will look, so that unlocks need
 *   not wake another. It may be clear although such a thread is awake; it is never set
 *   without one (I2).
 *
 * States of the word
 *   FREE		locked clear, inside = n
 *   OWNED	locked set, inside = n + 1
 *
 *   FREE n --lock--> OWNED n + 1		by a thread that was not inside
 *   w --join--> w + 1				before it first sleeps
 *   FREE n --lock--> OWNED n, woken clear by a thread that was inside
 *   OWNED n, woken --rest--> woken clear	by a thread inside that sleeps again
 *   OWNED n + 1 --unlock--> FREE n, and woken set if n > 0; if it was not, one
 *						sleeper is woken then
 *
 * Invariants
 *   I1  The owner is the thread that set locked.
 *   I2  While woken is set, an unlock has yet to make its wake-up call, or a thread
 *       that is inside and not the owner is awake. That thread will lock, or clear
 *       woken before it sleeps.
 *   I3  A thread goes to sleep only on a word with locked set and woken clear: the
 *       unlock that follows wakes one thread.
 *
 * Linearization
 *   lock: the CAS that sets locked. unlock: the CAS that clears it.
 *
 * Progress
 *   lock blocks: the owner blocks the others. try_lock is wait-free, unlock lock-free:
 *   its CAS fails when another thread has arrived.
 *
 * ABA and reclamation
 *   unlock does not touch the word after its CAS. It wakes by address, and the address
 *   may belong to something else by then. The kernel compares the word with what the
 *   sleeper saw. If the word has changed and changed back, then by I3 an unlock is
 *   still to come.
 *
 * Pairs
 *   P1  unlock's CAS of word	-> lock's CAS of word: the section before
 *
 *   Other threads' changes in between are RMWs and continue the release sequence.
 *
 * Source
 *   J. Gustedt, "Futex based locks for C11's generic atomics", INRIA RR-8818, 2015,
 *   also in musl. There unlock is one fetch_sub, and wakes a thread whenever a thread
 *   is inside. Until the woken thread gets a CPU, each unlock of the others is a system
 *   call. With more threads than CPUs this cost nine tenths of the throughput of short
 *   sections (bench/atomic, store-24). Hence woken, as in Go's mutex. The spinning is
 *   ours too (lock.c).
 */
#ifndef WEFT_LOCKFREE_LOCK_H
#define WEFT_LOCKFREE_LOCK_H

#include <stdint.h>

#include "base/compiler.h"
#include "lockfree/atomic.h"

#define WEFTI_LOCK_BIT		UINT32_C(0x80000000)
#define WEFTI_LOCK_WOKEN	UINT32_C(0x40000000)
#define WEFTI_LOCK_OWNED	(WEFTI_LOCK_BIT + 1)

/* Which threads may use the word: those of this process, or of several. */
enum wefti_lock_scope {
	WEFTI_LOCK_PRIVATE,
	WEFTI_LOCK_SHARED
};

void wefti_lock_wait(_Atomic uint32_t *word, enum wefti_lock_scope scope);
void wefti_lock_wake(_Atomic uint32_t *word, enum wefti_lock_scope scope);

/* FREE n -> OWNED n + 1. Returns 1 if it did so. */
static inline int wefti_lock_take(_Atomic uint32_t *word)
{
	uint32_t w = load_relaxed(word);	/* a guess; the CAS checks it */

	return likely(!(w & WEFTI_LOCK_BIT)) &&
		cas_acquire(word, &w, w + WEFTI_LOCK_OWNED);	/* P1: unlock */
}

static inline void wefti_lock_lock(_Atomic uint32_t *word,
				   enum wefti_lock_scope scope)
{
	if (unlikely(!wefti_lock_take(word)))
		wefti_lock_wait(word, scope);
}

/* OWNED n + 1 -> FREE n. After the CAS the word may be anything. */
static inline void wefti_lock_unlock(_Atomic uint32_t *word,
				     enum wefti_lock_scope scope)
{
	uint32_t w = load_relaxed(word);	/* a guess; the CAS checks it */

	for (;;) {
		uint32_t rest = w - WEFTI_LOCK_OWNED;
		uint32_t next = rest ? rest | WEFTI_LOCK_WOKEN : 0;

		if (unlikely(!cas_weak_release(word, &w, next)))  /* P1: lock */
			continue;
		if (unlikely(next != rest))
			wefti_lock_wake(word, scope);
		return;
	}
}

#endif
