/* SPDX-License-Identifier: MIT */
/*
 * pthread/sync/barrier.c - barriers, in glibc's layout
 *
 * As with glibc, pthread_barrier_destroy() waits until every thread that arrived has left.
 *
 * States of a thread
 *   INSIDE   it is counted in `inside`
 *   ARRIVED  it is counted in `in` too, and has noted the round. It is in the lot, except
 *            while it runs handlers
 *   LEAVING  the round that it has noted is over
 *
 *   INSIDE --under the lot's lock, others are missing--> ARRIVED
 *   INSIDE --the same, the last one: begins another round--> LEAVING of all ARRIVED, too
 *   LEAVING --the last access, to `inside`--> outside
 *
 * Writers
 *   barrier.inside  leave, pthread_barrier_destroy, wait_here
 *   barrier.round  must_wait
 *
 * Invariants
 *   I1  `in` and `round` change under the lot's lock. So the number of arrivals is exact, and
 *       a thread is put into the lot only while its round is not over.
 *   I2  The last thread to arrive wakes all. A woken thread whose round is not over waits
 *       again: it arrived after the round began, or a handler has run.
 *   I3  A thread touches the barrier for the last time in leave(). The one that finds
 *       DESTROYED and no other inside wakes the thread that destroys it, by the address alone.
 *
 * Linearization
 *   Where must_wait counts the thread. destroy: at the load that finds no thread inside.
 *
 * Progress
 *   Blocking, as a barrier is. The lot's lock is held for a few operations (lot.c).
 *
 * ABA and reclamation
 *   A round's number comes again after 2^32 rounds. A thread that waits takes part in each
 *   round, so it has left before. Entries of the lot are on the stacks of their threads.
 *
 * Pairs
 *   The lot's lock orders what a thread did before its arrival with what the others do
 *   behind the round. Model: tests/model/loom/c/pt_barrier.c.
 *
 * Source
 *   The counting of rounds is that of every sense-reversing barrier (J. Mellor-Crummey and
 *   M. Scott, "Algorithms for Scalable Synchronization", 1991), with a number as the sense.
 */
#include <errno.h>

#include "pthread/core/real.h"
#include "pthread/core/started.h"
#include "pthread/signal/region.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/lot.h"

#define DESTROYED	(UINT32_C(1) << 31)

struct barrier {
	uint32_t in;		/* arrivals in this round */
	_Atomic uint32_t round;
	uint32_t count;
	int shared;		/* as glibc's initializer sets it */
	_Atomic uint32_t inside;
};

_Static_assert(sizeof(struct barrier) <= sizeof(pthread_barrier_t),
	       "in its place");

struct arrival {
	struct barrier *barrier;
	uint32_t round;
	int is_here;		/* this thread has been counted */
	int is_last;
};

/* I1: under the lot's lock. Has the thread to wait, for the first time or still? */
static int must_wait(void *arg)
{
	struct arrival *a = arg;
	struct barrier *b = a->barrier;

	if (a->is_here)
		return load_seq_cst(&b->round) == a->round;
	a->is_here = 1;
	a->round = load_seq_cst(&b->round);
	if (++b->in < b->count)
		return 1;
	b->in = 0;
	fetch_add_seq_cst(&b->round, 1);
	a->is_last = 1;
	return 0;
}

static void leave(struct barrier *b)
{
	if (unlikely(fetch_sub_seq_cst(&b->inside, 1) == (DESTROYED | 1)))
		wefti_lot_wake(&b->inside, UINT32_MAX, WEFTI_LOT_ANY);
}

static int is_over(struct arrival *a)
{
	return load_seq_cst(&a->barrier->round) != a->round;
}

static int wait_here(struct barrier *b)
{
	struct arrival a = { .barrier = b };
	const struct wefti_lot_wait w = {
		.key = b, .check = must_wait, .arg = &a, .deadline = INT64_MAX,
		.why = WEFTI_WHY_BARRIER, .urgent = WEFTI_URGENT_SIGNAL,
	};

	fetch_add_seq_cst(&b->inside, 1);
	do {
		if (wefti_lot_wait(&w) == WEFTI_LOT_INTERRUPTED)
			wefti_signals_run();
	} while (!is_over(&a));
	if (a.is_last)
		wefti_lot_wake(b, UINT32_MAX, WEFTI_LOT_ANY);
	leave(b);
	wefti_signals_run_any();
	return a.is_last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	struct barrier *b = (struct barrier *)(void *)barrier;
	int error;

	if (wefti_is_aside())
		return REAL(pthread_barrier_wait)(barrier);
	if (likely(!b->shared))
		return wait_here(b);
	wefti_region_begin();
	error = REAL(pthread_barrier_wait)(barrier);
	wefti_region_end();
	return error;
}

static int has_some_inside(void *arg)
{
	uint32_t n = load_seq_cst(&((struct barrier *)arg)->inside);

	return (n & ~DESTROYED) != 0;
}

EXPORT int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	struct barrier *b = (struct barrier *)(void *)barrier;
	const struct wefti_lot_wait w = {
		.key = &b->inside, .check = has_some_inside, .arg = b,
		.deadline = INT64_MAX, .why = WEFTI_WHY_BARRIER,
	};

	if (wefti_is_aside())
		return REAL(pthread_barrier_destroy)(barrier);
	if (unlikely(b->shared))
		return REAL(pthread_barrier_destroy)(barrier);
	/*
	 * Waits for the threads that were woken. One that still waits would wait for
	 * ever.
	 */
	fetch_or_seq_cst(&b->inside, DESTROYED);
	while (has_some_inside(b))
		wefti_lot_wait(&w);
	return 0;
}
