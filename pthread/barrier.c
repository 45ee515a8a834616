/* SPDX-License-Identifier: MIT */
/*
 * pthread/barrier.c - barriers, in glibc's layout
 *
 * Arrivals are counted under the lot's lock of the barrier, so that those who
 * wait and those who come are known exactly; the last one wakes the others by
 * number, and touches the barrier no more: it may be gone.
 */
#include "pthread/lot.h"
#include "pthread/real.h"
#include "pthread/region.h"

struct barrier {
	uint32_t in;		/* of this round */
	uint32_t round;
	uint32_t count;
	int shared;		/* as glibc's initializer puts it */
	uint32_t out;
};

_Static_assert(sizeof(struct barrier) <= sizeof(pthread_barrier_t),
	       "in its place");

/* Returns 0 for the last one. */
static int arrive(void *arg)
{
	struct barrier *b = arg;

	if (++b->in < b->count)
		return 1;
	b->in = 0;
	return 0;
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	struct barrier *b = (struct barrier *)(void *)barrier;
	const struct wefti_lot_wait w = {
		.key = b, .check = arrive, .arg = b, .deadline = INT64_MAX,
		.why = WEFTI_WHY_BARRIER,
	};
	unsigned others = b->count - 1;
	int error;

	if (unlikely(b->shared)) {
		wefti_region_begin();
		error = REAL(pthread_barrier_wait)(barrier);
		wefti_region_end();
		return error;
	}
	if (wefti_lot_wait(&w) != WEFTI_LOT_CHANGED)
		return 0;
	wefti_lot_wake(b, others, WEFTI_LOT_ANY);
	return PTHREAD_BARRIER_SERIAL_THREAD;
}

EXPORT int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	struct barrier *b = (struct barrier *)(void *)barrier;

	return unlikely(b->shared) ? REAL(pthread_barrier_destroy)(barrier) : 0;
}
