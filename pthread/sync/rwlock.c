/* SPDX-License-Identifier: MIT */
/*
 * pthread/sync/rwlock.c - many readers or one writer, in glibc's layout
 *
 * Structure
 *   word   readers:29 | WRITERS_WAIT | READERS_WAIT | WRITER
 *   writer the id of the writer
 *   __shared and __flags are as glibc's initializers set them.
 *
 *   As with glibc, readers come first unless the kind says otherwise. So a thread may
 *   read-lock again what it has read-locked. Readers and writers wait at two addresses.
 *
 * States
 *   FREE     the word is 0
 *   READ     by as many threads as readers says
 *   WRITTEN  WRITER is set
 *
 *   FREE, READ --try_lock of a reader--> READ with one more
 *   FREE --try_lock of a writer--> WRITTEN; with WRITERS_WAIT, if it has been woken
 *   READ --unlock_reader--> READ with one less; FREE, if it was the last
 *   WRITTEN --unlock_writer--> FREE
 *   READ, WRITTEN --must_wait--> the same, with the waiting thread's WAIT bit
 *   READ, WRITTEN --no_writer_waits--> the same, without WRITERS_WAIT
 *
 * Writers
 *   pt_rwlock.word  must_wait, no_writer_waits, try_lock, unlock_reader, unlock_writer
 *   pt_rwlock.writer  pthread_rwlock_trywrlock, unlock_writer, write_until
 *
 * Invariants
 *   I1  Readers and WRITER are never set at once. An unlock to FREE clears both WAIT
 *       bits. Both may be set although no thread waits.
 *   I2  While a reader waits, READERS_WAIT is set, or the unlock that cleared it is about
 *       to wake all readers.
 *   I3  While a writer waits, WRITERS_WAIT is set; or the unlock that cleared it is about
 *       to wake a writer; or a woken writer is on its way. That writer sets the bit again
 *       with its CAS, or waits again, or wakes another writer before a handler runs that
 *       may jump out of the call.
 *   I4  A writer that gives up clears WRITERS_WAIT if it was the last, because the bit
 *       may keep readers out.
 *   I5  A thread finds its own id in writer only while it has the lock for writing. Of
 *       another thread's id it may see an old value.
 *
 * Linearization
 *   A lock, at try_lock's CAS. EBUSY and EAGAIN, at the load or the failed CAS that saw
 *   why. ETIMEDOUT, at the last of these. An unlock, at its CAS.
 *
 * Progress
 *   Lock-free, except for the waits and, where threads wait, the lot's lock
 *   (pthread/wait/lot.c). The CAS of an unlock tells it which threads to wake. Where
 *   readers come first, they may starve a writer, as in glibc.
 *
 * ABA and reclamation
 *   The CAS compares all that decides: a value that comes back means the same. The CAS
 *   is an unlock's last access to the lock; the wake uses only the address. So the
 *   thread that locks last may free the lock. If another object has the address by then,
 *   its waiters are woken once too often, and look again.
 *
 * Pairs
 *   P1  unlock's CAS  ->  try_lock's CAS: what the lock protects
 *   Model: tests/model/loom/c/pt_rwlock.c.
 *
 * Source
 *   The size, the kinds and which threads come first are glibc's
 *   (nptl/pthread_rwlock_common.c). The algorithm is ours.
 */
#include <errno.h>

#include "pthread/signal/cancel.h"
#include "pthread/wait/lot.h"
#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/core/started.h"
#include "pthread/signal/signal.h"
#include "pthread/core/time.h"
#include "pthread/signal/region.h"
#include "pthread/sync/rwlock_layout.h"

#define WRITER		1u
#define READERS_WAIT	2u
#define WRITERS_WAIT	4u
#define READER		8u
#define READERS		(~7u)

static struct wefti_pt_rwlock *lock_of(pthread_rwlock_t *rwlock)
{
	return (struct wefti_pt_rwlock *)(void *)rwlock;
}

static int is_libcs(const pthread_rwlock_t *rwlock)
{
	return unlikely(rwlock->__data.__shared != 0) || wefti_is_aside();
}

/* What keeps a reader or a writer out. */
struct want {
	struct wefti_pt_rwlock *lock;
	uint32_t against;	/* bits that must be clear */
	uint32_t add;
	uint32_t waits;		/* the bit that says that such a thread waits */
	const void *key;
	enum wefti_why why;
};

static struct want to_read(pthread_rwlock_t *rwlock)
{
	struct wefti_pt_rwlock *l = lock_of(rwlock);
	int writers_first = rwlock->__data.__flags ==
			    PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;

	return (struct want){ l, WRITER | (writers_first ? WRITERS_WAIT : 0),
			      READER, READERS_WAIT, &l->word,
			      WEFTI_WHY_READ_LOCK };
}

static struct want to_write(pthread_rwlock_t *rwlock)
{
	struct wefti_pt_rwlock *l = lock_of(rwlock);

	return (struct want){ l, WRITER | READERS, WRITER, WRITERS_WAIT,
			      l->writers, WEFTI_WHY_WRITE_LOCK };
}

/* Returns 0, EBUSY or EAGAIN. */
static int try_lock(const struct want *want, uint32_t more)
{
	uint32_t w = load_relaxed(&want->lock->word);

	do {
		if (w & want->against)
			return EBUSY;
		if (want->add == READER && (w & READERS) == READERS)
			return EAGAIN;
	} while (!cas_weak_acquire(&want->lock->word, &w, /* P1 */
				   (w + want->add) | more));
	return 0;
}

/* Under the lot's lock of the key. 1: the caller has to wait, and its bit is set. */
static int must_wait(void *arg)
{
	const struct want *want = arg;
	uint32_t w = load_relaxed(&want->lock->word);

	do {
		if (!(w & want->against))
			return 0;
	} while (!cas_weak_seq_cst(&want->lock->word, &w, w | want->waits));
	return 1;
}

/* Under the lot's lock of the writers' key. No thread waits there. */
static void no_writer_waits(void *lock)
{
	fetch_and_seq_cst(&((struct wefti_pt_rwlock *)lock)->word, ~WRITERS_WAIT);
}

/* The caller gives up. Readers may have waited behind it, if it is a writer. */
static void leave(const struct want *want)
{
	struct wefti_pt_rwlock *l = want->lock;
	uint32_t w;

	if (want->add != WRITER)
		return;
	wefti_lot_if_none(want->key, no_writer_waits, l);
	w = load_seq_cst(&l->word);
	if ((w & READERS_WAIT) && !(w & (WRITER | WRITERS_WAIT)))
		wefti_lot_wake(&l->word, UINT32_MAX, WEFTI_LOT_ANY);
}

/* The caller has left before: it may end here, or a handler may jump away. */
static void run_urgent(uint8_t held)
{
	wefti_cancel_release(held);
	wefti_cancel_point_async();
	wefti_signals_run();
	(void)!wefti_cancel_hold();
}

/*
 * Asynchronous cancellation is held back. Between a wait's end and what follows from it,
 * it would leave WRITERS_WAIT set with no writer, or lose a wake-up.
 */
static int lock_until(struct want *want, int64_t deadline)
{
	const struct wefti_lot_wait w = {
		.key = want->key, .check = must_wait, .arg = want,
		.deadline = deadline, .owner = &want->lock->writer,
		.why = want->why, .urgent = wefti_cancel_urgent(),
	};
	const uint8_t held = wefti_cancel_hold();
	uint32_t more = 0;
	int error;

	while ((error = try_lock(want, more)) == EBUSY) {
		const enum wefti_lot_end end = wefti_lot_wait(&w);

		if (end == WEFTI_LOT_TIMEDOUT || end == WEFTI_LOT_INTERRUPTED)
			leave(want);
		else if (end == WEFTI_LOT_WOKEN && want->waits == WRITERS_WAIT)
			more = WRITERS_WAIT;	/* others may wait behind it */
		if (end == WEFTI_LOT_TIMEDOUT) {
			error = ETIMEDOUT;
			break;
		}
		if (wefti_pt_is_urgent(w.urgent)) {
			if (end == WEFTI_LOT_WOKEN)	/* another in its place */
				wefti_lot_wake(want->key, 1, WEFTI_LOT_ANY);
			run_urgent(held);
		}
	}
	wefti_cancel_release(held);
	return error;
}

static int is_writer(const struct wefti_pt_rwlock *l)
{
	return load_relaxed(&l->writer) == wefti_pt_id();
}

static int read_until(pthread_rwlock_t *rwlock, int64_t deadline)
{
	struct want want = to_read(rwlock);
	int error = try_lock(&want, 0);

	if (likely(error != EBUSY))
		return error;
	if (is_writer(want.lock))
		return EDEADLK;
	error = lock_until(&want, deadline);
	wefti_signals_run_any();
	return error;
}

static int write_until(pthread_rwlock_t *rwlock, int64_t deadline)
{
	struct want want = to_write(rwlock);
	int error = try_lock(&want, 0);
	const int waits = error == EBUSY;

	if (waits && is_writer(want.lock))
		return EDEADLK;
	if (waits)
		error = lock_until(&want, deadline);
	if (!error)
		store_relaxed(&want.lock->writer, wefti_pt_id());
	if (waits)
		wefti_signals_run_any();
	return error;
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *rwlock)
{
	int error;

	if (!is_libcs(rwlock))
		return read_until(rwlock, INT64_MAX);
	wefti_region_begin();
	error = REAL(pthread_rwlock_rdlock)(rwlock);
	wefti_region_end();
	return error;
}
SECOND_NAME(pthread_rwlock_rdlock, __pthread_rwlock_rdlock);

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *rwlock)
{
	int error;

	if (!is_libcs(rwlock))
		return write_until(rwlock, INT64_MAX);
	wefti_region_begin();
	error = REAL(pthread_rwlock_wrlock)(rwlock);
	wefti_region_end();
	return error;
}
SECOND_NAME(pthread_rwlock_wrlock, __pthread_rwlock_wrlock);

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *rwlock)
{
	struct want want = to_read(rwlock);

	return is_libcs(rwlock) ? REAL(pthread_rwlock_tryrdlock)(rwlock) : try_lock(&want, 0);
}
SECOND_NAME(pthread_rwlock_tryrdlock, __pthread_rwlock_tryrdlock);

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *rwlock)
{
	struct want want = to_write(rwlock);
	int error;

	if (is_libcs(rwlock))
		return REAL(pthread_rwlock_trywrlock)(rwlock);
	error = try_lock(&want, 0);
	if (!error)
		store_relaxed(&want.lock->writer, wefti_pt_id());
	return error;
}
SECOND_NAME(pthread_rwlock_trywrlock, __pthread_rwlock_trywrlock);

/* Only a caller that has to wait checks the time, as in libc. */
static int deadline_of(clockid_t clock, const struct timespec *at,
		       int64_t *deadline)
{
	if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) ||
	    !wefti_time_is_valid(at))
		return EINVAL;
	*deadline = wefti_time_deadline(clock, at);
	return 0;
}

EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *rwlock, clockid_t clock,
				      const struct timespec *at)
{
	int64_t deadline;
	int error;

	if (is_libcs(rwlock)) {
		wefti_region_begin();
		error = REAL(pthread_rwlock_clockrdlock)(rwlock, clock, at);
		wefti_region_end();
		return error;
	}
	error = deadline_of(clock, at, &deadline);
	return error ? error : read_until(rwlock, deadline);
}

EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *rwlock, clockid_t clock,
				      const struct timespec *at)
{
	int64_t deadline;
	int error;

	if (is_libcs(rwlock)) {
		wefti_region_begin();
		error = REAL(pthread_rwlock_clockwrlock)(rwlock, clock, at);
		wefti_region_end();
		return error;
	}
	error = deadline_of(clock, at, &deadline);
	return error ? error : write_until(rwlock, deadline);
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *rwlock,
				      const struct timespec *at)
{
	return pthread_rwlock_clockrdlock(rwlock, CLOCK_REALTIME, at);
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *rwlock,
				      const struct timespec *at)
{
	return pthread_rwlock_clockwrlock(rwlock, CLOCK_REALTIME, at);
}

/* was: the word before the lock became FREE. */
static void wake_all_of(struct wefti_pt_rwlock *l, uint32_t was)
{
	if (was & READERS_WAIT)
		wefti_lot_wake(&l->word, UINT32_MAX, WEFTI_LOT_ANY);
	if (was & WRITERS_WAIT)
		wefti_lot_wake(l->writers, 1, WEFTI_LOT_ANY);
	wefti_signals_run_any();
}

static void unlock_writer(struct wefti_pt_rwlock *l)
{
	uint32_t w = load_relaxed(&l->word);

	store_relaxed(&l->writer, 0);
	while (!cas_weak_release(&l->word, &w, 0))	/* P1 */
		;
	if (w & (READERS_WAIT | WRITERS_WAIT))
		wake_all_of(l, w);
}

static void unlock_reader(struct wefti_pt_rwlock *l)
{
	uint32_t w = load_relaxed(&l->word), to;

	do {
		to = w - READER;
		if (!(to & READERS))
			to = 0;
	} while (!cas_weak_release(&l->word, &w, to));	/* P1 */
	if (to != 0)
		return;
	if (w & (READERS_WAIT | WRITERS_WAIT))
		wake_all_of(l, w);
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *rwlock)
{
	struct wefti_pt_rwlock *l = lock_of(rwlock);

	if (is_libcs(rwlock))
		return REAL(pthread_rwlock_unlock)(rwlock);
	if (load_relaxed(&l->word) & WRITER)
		unlock_writer(l);
	else
		unlock_reader(l);
	return 0;
}
SECOND_NAME(pthread_rwlock_unlock, __pthread_rwlock_unlock);
