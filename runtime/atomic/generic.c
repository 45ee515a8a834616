/* SPDX-License-Identifier: MIT */
/*
 * atomic/generic.c - the functions that compilers call for atomic objects of any size
 *
 * Objects with a size and an address that one instruction can handle: atomic/small.h.
 * All others: atomic/section.h. The choice depends only on size and address, so all
 * accesses to an object go the same way. Compilers call these functions for structs of 16
 * and of 24 bytes more than for others. So each function asks for 16 bytes early, and a
 * load and a compare-exchange ask for 24 bytes, too.
 *
 * Writers
 *   *object  wefti_atomic_exchange, wefti_atomic_store;
 *       section.h: wefti_atomic_put
 */
#include "atomic/names.h"

#include <string.h>

#include "atomic/section.h"
#include "atomic/small.h"
#include "cpu.h"

/*
 * Programs compare and exchange in loops. Two threads with alternating loads and
 * exchanges take the cache lines from each other and make each other's exchanges fail.
 * So a thread that failed pauses for a while, twice as long each time in a row, and the
 * other one makes progress. A failure that was intended costs the first, shortest
 * pause.
 */
#define BACK_OFF_MAX	7

static _Thread_local unsigned failures;

static COLD void back_off(void)
{
	for (unsigned n = 1u << failures; n > 0; n--)
		wefti_arch_pause();
	failures += failures < BACK_OFF_MAX;
}

/* What is copied at one time, on the stack. */
#define CHUNK	64

/*
 * Loads and compare-exchanges of three words have a path of their own, with few
 * registers, for the case without contention. For pairs see atomic/small.h. All else is
 * out of line.
 */
static NOINLINE void load_any(size_t n, const void *object, void *to)
{
	const struct wefti_atomic_entry *e = wefti_atomic_entry_of(object);
	struct wefti_atomic_section section;
	struct wefti_small s;

	if (n <= WEFTI_SMALL_MAX && wefti_small_find(&s, object, n)) {
		wefti_small_load(&s, to, n);
		return;
	}
	for (int i = 0; i < WEFTI_ATOMIC_READ_TRIES; i++)
		if (likely(wefti_atomic_peek(e, to, object, n)))
			return;
	section = wefti_atomic_begin(object);
	wefti_atomic_copy(to, object, n);
	wefti_atomic_end(&section);
}

void wefti_atomic_load(size_t n, const void *object, void *to, int order)
{
	(void)order;
	if (likely(wefti_atomic_is_three(object, n) &&
		   wefti_atomic_peek_three(wefti_atomic_entry_of(object), to,
					   object)))
		return;
	if (likely(wefti_small_is_pair(object, n)))
		wefti_pair_load(object, to);
	else
		load_any(n, object, to);
}

void wefti_atomic_store(size_t n, void *object, const void *from, int order)
{
	struct wefti_atomic_section section;
	unsigned char old[WEFTI_SMALL_MAX];
	struct wefti_small s;

	(void)order;
	if (wefti_small_is_pair(object, n)) {
		wefti_pair_exchange(object, from, old);
		return;
	}
	if (n <= WEFTI_SMALL_MAX && wefti_small_find(&s, object, n)) {
		wefti_small_exchange(&s, from, old, n);
		return;
	}
	section = wefti_atomic_begin(object);
	wefti_atomic_open(&section);
	wefti_atomic_put(object, from, n);
	wefti_atomic_close(&section);
	wefti_atomic_end(&section);
}

/* In chunks, as callers may pass the same place as `from` and `to`. */
void wefti_atomic_exchange(size_t n, void *object, const void *from, void *to,
			   int order)
{
	struct wefti_atomic_section section;
	unsigned char old[CHUNK];
	struct wefti_small s;

	(void)order;
	if (wefti_small_is_pair(object, n)) {
		wefti_pair_exchange(object, from, to);
		return;
	}
	if (n <= WEFTI_SMALL_MAX && wefti_small_find(&s, object, n)) {
		wefti_small_exchange(&s, from, to, n);
		return;
	}
	section = wefti_atomic_begin(object);
	wefti_atomic_open(&section);
	for (size_t i = 0; i < n; i += CHUNK) {
		size_t some = n - i < CHUNK ? n - i : CHUNK;
		unsigned char *place = (unsigned char *)object + i;

		wefti_atomic_copy(old, place, some);
		wefti_atomic_put(place, (const unsigned char *)from + i, some);
		memcpy((unsigned char *)to + i, old, some);
	}
	wefti_atomic_close(&section);
	wefti_atomic_end(&section);
}

/*
 * A CAS that fails needs no lock, if the failure can be seen from outside. This is
 * tried when the lock is taken. Returns 1 if the CAS has failed, with the value found
 * in *expected.
 */
static int fails_outside(const void *object, void *expected, size_t n)
{
	const struct wefti_atomic_entry *e = wefti_atomic_entry_of(object);
	unsigned char found[CHUNK];

	/* Relaxed: a hint. */
	if (likely(load_relaxed(&e->lock) == 0) || n > CHUNK)
		return 0;
	if (!wefti_atomic_peek(e, found, object, n) ||
	    memcmp(found, expected, n) == 0)
		return 0;
	memcpy(expected, found, n);
	back_off();
	return 1;
}

static NOINLINE _Bool cas_any(size_t n, void *object, void *expected,
			      const void *desired)
{
	struct wefti_atomic_section section;
	struct wefti_small s;
	int equal;

	if (n <= WEFTI_SMALL_MAX && wefti_small_find(&s, object, n))
		return wefti_small_cas(&s, expected, desired, n);
	if (fails_outside(object, expected, n))
		return 0;
	section = wefti_atomic_begin(object);
	equal = wefti_atomic_is_equal(object, expected, n);
	if (likely(equal)) {
		wefti_atomic_open(&section);
		wefti_atomic_put(object, desired, n);
		wefti_atomic_close(&section);
	} else {
		wefti_atomic_copy(expected, object, n);
	}
	wefti_atomic_end(&section);
	if (likely(equal))
		failures = 0;
	else
		back_off();
	return equal;
}

_Bool wefti_atomic_compare_exchange(size_t n, void *object, void *expected,
				    const void *desired, int success,
				    int failure)
{
	struct wefti_atomic_section s = { wefti_atomic_entry_of(object), NULL };
	int equal;

	(void)success;
	(void)failure;
	if (wefti_small_is_pair(object, n))
		return wefti_pair_cas(object, expected, desired);
	if (unlikely(!wefti_atomic_is_three(object, n) || weft_preempt_off))
		return cas_any(n, object, expected, desired);
	wefti_atomic_own = s.entry;
	if (unlikely(!wefti_lock_take(&s.entry->lock))) {
		wefti_atomic_own = NULL;
		return cas_any(n, object, expected, desired);
	}
	equal = wefti_atomic_is_equal_three(object, expected);
	if (likely(equal)) {
		wefti_atomic_open(&s);
		wefti_atomic_put_three(object, desired);
		wefti_atomic_close(&s);
	} else {
		wefti_atomic_copy_three(expected, object);
	}
	wefti_lock_unlock(&s.entry->lock, WEFTI_LOCK_PRIVATE);
	wefti_atomic_own = NULL;
	if (unlikely(!equal)) {
		back_off();
		return 0;
	}
	failures = 0;
	return 1;
}

/* Without an object: for one at the alignment that such objects have. */
_Bool wefti_atomic_is_lock_free(size_t n, const void *object)
{
	struct wefti_small s;

	return wefti_small_find(&s, object, n);
}
