/* SPDX-License-Identifier: MIT */
/*
 * lockfree/lock.c - a lock in one word: the contended paths, and the public calls
 *
 * Structure, States, Invariants, Linearization, Progress, ABA and reclamation,
 * Source: lockfree/lock.h.
 *
 * Writers
 *   *word  take_from_inside, wefti_lock_take, wefti_lock_unlock,
 *       wefti_lock_wait
 *
 * Pairs
 *   P1  unlock's CAS of word	-> lock's CAS of word: the section before
 */
#include "lockfree/lock.h"

#include <errno.h>
#include <weft/lock.h>

#include "cpu.h"
#include "os/call/futex.h"

/*
 * How a thread that finds the lock taken spins before it sleeps: it makes 16 pauses and
 * looks, then 32. Each look takes the cache line from the owner. As long as no thread
 * looks, the owner locks and unlocks in its own cache. Earlier looks, after 1, 2, 4 and
 * 8 pauses, left half of the throughput of short sections (bench/atomic, store-24, on
 * two cores of an EPYC), with 2 threads as with 64. All pauses together take about a
 * microsecond: an owner that takes longer has most likely lost its CPU, and spinning
 * keeps it from getting one.
 */
#define SPIN_FIRST	16u	/* pauses */
#if defined(WEFT_MODEL)
#define SPIN_LOOKS	1u	/* a checker tries them all */
#else
#define SPIN_LOOKS	2u
#endif

/* FREE n -> OWNED n + 1, by a thread that is not inside. Returns 1 if it did so. */
static int take_by_spinning(_Atomic uint32_t *word)
{
	for (unsigned i = 0; i < SPIN_LOOKS; i++) {
		for (unsigned n = SPIN_FIRST << i; n > 0; n--)
			wefti_arch_pause();
		if (wefti_lock_take(word))	/* P1: unlock */
			return 1;
	}
	return 0;
}

static void sleep_on(_Atomic uint32_t *word, uint32_t value,
		     enum wefti_lock_scope scope)
{
	if (scope == WEFTI_LOCK_SHARED)
		wefti_os_futex_wait_shared(word, value);
	else
		wefti_os_futex_wait(word, value, INT64_MAX);
}

/*
 * One step of a thread that is inside and awake. Returns 1 if it has the lock (FREE n
 * -> OWNED n), 0 if *w is a word on which it may sleep (I3).
 */
static int take_from_inside(_Atomic uint32_t *word, uint32_t *w)
{
	for (;;) {
		uint32_t next = *w & ~WEFTI_LOCK_WOKEN;

		if (!(*w & WEFTI_LOCK_BIT))
			next |= WEFTI_LOCK_BIT;
		else if (next == *w)
			return 0;
		if (cas_weak_acquire(word, w, next)) {	/* P1: unlock */
			if (!(*w & WEFTI_LOCK_BIT))
				return 1;
			*w = next;	/* OWNED, woken -> woken clear */
		}
	}
}

/* Called when the lock was taken at the first look. */
COLD void wefti_lock_wait(_Atomic uint32_t *word, enum wefti_lock_scope scope)
{
	uint32_t w;

	if (take_by_spinning(word))
		return;
	w = fetch_add_relaxed(word, UINT32_C(1)) + 1;	/* join: w -> w + 1 */
	while (!take_from_inside(word, &w)) {
		sleep_on(word, w, scope);
		w = load_relaxed(word);
	}
}

COLD void wefti_lock_wake(_Atomic uint32_t *word, enum wefti_lock_scope scope)
{
	if (scope == WEFTI_LOCK_SHARED)
		wefti_os_futex_wake_shared(word, 1);
	else
		wefti_os_futex_wake(word, 1);
}

_Static_assert(sizeof(struct weft_lock) == sizeof(_Atomic uint32_t) &&
	       sizeof(struct weft_plock) == sizeof(_Atomic uint32_t),
	       "the public structs are the word");

/* Through void *: the public type has no _Atomic, which C++ does not have. */
static _Atomic uint32_t *word_of(void *lock)
{
	return lock;
}

void weft_lock_lock(struct weft_lock *lock)
{
	wefti_lock_lock(word_of(lock), WEFTI_LOCK_PRIVATE);
}

int weft_lock_try_lock(struct weft_lock *lock)
{
	return wefti_lock_take(word_of(lock)) ? 0 : -EBUSY;
}

void weft_lock_unlock(struct weft_lock *lock)
{
	wefti_lock_unlock(word_of(lock), WEFTI_LOCK_PRIVATE);
}

void weft_plock_lock(struct weft_plock *lock)
{
	wefti_lock_lock(word_of(lock), WEFTI_LOCK_SHARED);
}

int weft_plock_try_lock(struct weft_plock *lock)
{
	return wefti_lock_take(word_of(lock)) ? 0 : -EBUSY;
}

void weft_plock_unlock(struct weft_plock *lock)
{
	wefti_lock_unlock(word_of(lock), WEFTI_LOCK_SHARED);
}
