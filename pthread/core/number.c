/* SPDX-License-Identifier: MIT */
/*
 * pthread/core/number.c - the thread that a lock of the program's names as its owner
 *
 * A lock has its owner's number. The number leads to the thread by a walk over all. A table
 * keeps what the walk has met, also of other threads: while events are recorded, each wait
 * for a lock asks, and for another thread each time.
 *
 * Writers
 *   found  keep
 */
#include "pthread/core/number.h"

#include "lockfree/atomic.h"
#include "mem/slot.h"
#include "pthread/core/self.h"

#define FOUND	4096u	/* by the number's last bits; a number and a slot */

static _Atomic uint64_t found[FOUND] TABLE;

/* The number is written by the thread itself, and never changes while it is a green one. */
__attribute__((noinline, no_sanitize("thread", "address")))
static int number_of(const struct wefti_thread *t)
{
	uint32_t gen;
	const struct wefti_pt *pt = wefti_pt_peek(t, &gen);
	const int number = pt ? *(const volatile int *)&pt->id : 0;

	return pt && wefti_pt_is_same(t, gen) ? number : 0;
}

static void keep(int number, uint32_t slot)
{
	store_relaxed(&found[(unsigned)number % FOUND],
		      (uint64_t)(uint32_t)number << 32 | slot);
}

static const struct wefti_thread *search(int number)
{
	const uint64_t is = load_relaxed(&found[(unsigned)number % FOUND]);
	const struct wefti_thread *t = wefti_slot_get((uint32_t)is);

	if (is >> 32 == (uint32_t)number && number_of(t) == number)
		return t;
	for (uint32_t i = 1; i < wefti_slot_limit(); i++) {
		const int other = number_of(wefti_slot_get(i));

		if (other)
			keep(other, i);
		if (other == number)
			return wefti_slot_get(i);
	}
	return NULL;
}

/* The first thread has the process's number, and libc's threads others of the kernel's. */
const struct wefti_thread *wefti_pt_by_number(int number)
{
	if (number >= WEFTI_KERNEL_IDS)
		return search(number);
	return number > 0 && wefti_rt.main && number_of(wefti_rt.main) == number ?
	       wefti_rt.main : NULL;
}
