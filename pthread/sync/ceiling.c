/* SPDX-License-Identifier: MIT */
/*
 * pthread/sync/ceiling.c - mutexes with a priority ceiling (PTHREAD_PRIO_PROTECT)
 *
 * Structure
 *   __lock   the ceiling, from bit WEFTI_CEILING_SHIFT on, where
 *            pthread_mutex_init() has put it; below it the state
 *   The other fields are those of any mutex, and so are the places where threads wait
 *   (pthread/sync/mutex.c).
 *
 * The owner has the priority of the highest ceiling that it holds, if its own is lower. The
 * raised priority is kept beside its own (`raised` beside `priority`), as libc keeps it
 * beside what the kernel knows. libc's rules are followed to the letter. A thread of
 * SCHED_OTHER can have no priority, so the call that would raise it returns EINVAL. Yet
 * from then on the ceiling counts as held, so the next call succeeds. Before the runtime is
 * started, these mutexes are libc's own, priority included. A newcomer may take the
 * lock before a waiter.
 *
 * States, with the ceiling C
 *   FREE    0
 *   TAKEN   1
 *   WAITED  2: taken, and maybe waited for. It may be so without a waiting thread
 *
 *   C FREE --lock--> C TAKEN --unlock--> C FREE
 *   C TAKEN --a thread that will wait--> C WAITED
 *   C FREE --a thread that was going to wait--> C WAITED, and it has the lock
 *   C WAITED --unlock--> C FREE, and one waiting thread is woken
 *   C TAKEN, WAITED --another ceiling D, by an owner of a recursive one--> the same with D
 *   C TAKEN, WAITED --another ceiling D, by a thread that took it for that--> D FREE
 *   After each of the last two, all waiting threads are woken.
 *
 * Writers
 *   *word_of()  lock_under, set_ceiling, wait_for, wefti_ceiling_unlock
 *
 * Invariants
 *   I1  While threads wait, the state is WAITED, or one of them was woken and is on its way
 *       to the CAS that makes it so. A thread that was woken and does not go there, because
 *       a handler runs, has another one woken first (wefti_lot_run_handlers).
 *   I2  A thread waits only under the ceiling that it has seen: the whole word is checked
 *       under the bucket's lock, or by the kernel. A new ceiling wakes all. So a thread that
 *       is refused under the new ceiling, and leaves, has taken no wake-up along that a
 *       thread which waits under the new one needs.
 *   I3  Unlock's last access to the mutex is the one that releases it, because the next
 *       owner may free the mutex.
 *
 * Linearization
 *   lock and unlock: at their CAS. Another ceiling: at the CAS in set_ceiling.
 *
 * Progress
 *   Blocking, as a mutex is. The lock of a FREE mutex and the unlock of a TAKEN one are
 *   lock-free. A thread that waits, and the unlock of a WAITED one, take the bucket's lock,
 *   under which no thread parks or is preempted (lot.c).
 *
 * ABA and reclamation
 *   A CAS compares state and ceiling, which are all that its caller decides by. Entries of
 *   the lot are on the stacks of their threads. wefti_pt.ceilings is its thread's alone.
 *
 * Pairs
 *   P1  unlock clears the state  ->  lock: what the mutex protects. The thread that gives
 *       the mutex another ceiling touches nothing else. Its CAS has the order of an unlock.
 *   Model: the scenarios of tests/model/loom/c/pt_ceiling.c.
 *
 * Source
 *   pthread/sync/mutex.c, for the three states; POSIX.1-2017, pthread_mutexattr_setprotocol,
 *   for the rules of the ceiling.
 */
#include "pthread/sync/ceiling.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "pthread/core/real.h"
#include "pthread/kthread/schedule.h"
#include "pthread/shared/mutex_owner.h"
#include "pthread/shared/shared.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/lot.h"
#include "weft/thread.h"

#define NONE		(-1)
#define CHANGED		(-1)	/* the ceiling has changed; not an errno value */

static _Atomic uint32_t *word_of(const pthread_mutex_t *m)
{
	return (_Atomic uint32_t *)(uintptr_t)&m->__data.__lock;
}

static uint32_t ceiling_bits(int ceiling)
{
	return (uint32_t)ceiling << WEFTI_CEILING_SHIFT;
}

static int ceiling_of(uint32_t word)
{
	return (int)(word >> WEFTI_CEILING_SHIFT);
}

static int is_taken(uint32_t word)
{
	return (word & ~WEFTI_CEILING_MASK) != 0;
}

/* --- the owner's priority -------------------------------------------- */

static struct wefti_ceilings *ceilings(void)
{
	if (!wefti_pt.ceilings)
		wefti_pt.ceilings = calloc(1, sizeof(*wefti_pt.ceilings));
	return wefti_pt.ceilings;
}

/* ceiling: the highest of the mutexes, one or several, that libc has locked. */
void wefti_ceiling_begin(int ceiling)
{
	struct wefti_ceilings *c = ceilings();

	if (!c)
		return;
	c->held[ceiling] = 1;
}

void wefti_ceiling_thread_ends(void)
{
	if (likely(!wefti_pt.ceilings))
		return;
	free(wefti_pt.ceilings);
	wefti_pt.ceilings = NULL;
}

static int highest_below(const struct wefti_ceilings *c, int ceiling)
{
	while (--ceiling > 0 && !c->held[ceiling])
		;
	return ceiling;
}

/* Counts `to` in and `from` out. Returns 0, EAGAIN, or what the kernel would say. */
static int change_priority(int from, int to)
{
	struct wefti_ceilings *c;
	int before, after;

	/* A kernel thread of libc's keeps its priority. */
	if (wefti_pt_is_libcs())
		return 0;
	before = after = wefti_schedule_of(&wefti_pt).ceiling;
	c = ceilings();
	if (!c)
		return ENOMEM;
	if (to != NONE) {
		if (c->held[to] + 1 == 0)
			return EAGAIN;
		c->held[to]++;
		if (to > before)
			after = to;
	}
	if (from != NONE && c->held[from] && --c->held[from] == 0 &&
	    before == from && from > to)
		after = highest_below(c, from);
	return after == before ? 0 : wefti_schedule_raise((int8_t)after);
}

/* --- the lock -------------------------------------------------------- */

struct wait {
	_Atomic uint32_t *word;
	uint32_t value;
};

static int is_as_seen(void *arg)
{
	const struct wait *w = arg;

	return load_relaxed(w->word) == w->value;	/* I1, I2 */
}

/* Waits while the mutex has the value. Returns 0 or ETIMEDOUT. */
static int wait_privately(const pthread_mutex_t *m, uint32_t value, int64_t deadline)
{
	_Atomic uint32_t *word = word_of(m);
	struct wait seen = { word, value };
	const struct wefti_lot_wait w = {
		.key = word, .check = is_as_seen, .arg = &seen,
		.deadline = deadline, .owner = wefti_mutex_owner(m),
		.why = WEFTI_WHY_MUTEX, .urgent = wefti_cancel_urgent(),
	};

	switch (wefti_lot_wait(&w)) {
	case WEFTI_LOT_TIMEDOUT:
		return ETIMEDOUT;
	case WEFTI_LOT_INTERRUPTED:
		wefti_cancel_point_async();
		wefti_signals_run();
		return 0;
	default:
		wefti_lot_run_handlers(word);
		return 0;
	}
}

/* The mutex is taken. Returns 0 (the caller has it now), ETIMEDOUT or CHANGED. */
static int wait_for(pthread_mutex_t *m, uint32_t bits, int64_t deadline)
{
	_Atomic uint32_t *word = word_of(m);
	const int shared = wefti_mutex_is_shared(m);
	struct wefti_watch *watch =
		shared ? wefti_watch_begin(word, WEFTI_WATCH_LOCK) : NULL;
	int error = 0;

	while (!error) {
		uint32_t seen = load_relaxed(word);

		if ((seen & WEFTI_CEILING_MASK) != bits) {
			error = CHANGED;		/* I2 */
		} else if (!is_taken(seen)) {
			if (cas_acquire(word, &seen, bits | 2))	/* P1 */
				break;
		} else if (seen == (bits | 2) ||
			   cas_relaxed(word, &seen, bits | 2)) {
			error = shared ?
				wefti_shared_wait(&watch, WEFTI_WATCH_LOCK, word,
						  bits | 2, deadline) :
				wait_privately(m, bits | 2, deadline);
		}
	}
	if (watch)
		wefti_watch_end(watch);
	return error;
}

/* Returns 0, EBUSY or ETIMEDOUT; CHANGED: the mutex has another ceiling than bits. */
static int lock_under(pthread_mutex_t *m, uint32_t bits, int64_t deadline)
{
	uint32_t seen = bits;

	if (cas_acquire(word_of(m), &seen, bits | 1))	/* P1 */
		return 0;
	if ((seen & WEFTI_CEILING_MASK) != bits)
		return CHANGED;
	return deadline == WEFT_NO_WAIT ? EBUSY : wait_for(m, bits, deadline);
}

int wefti_ceiling_lock(pthread_mutex_t *m, int64_t deadline)
{
	int held = NONE, error = wefti_mutex_again(m);

	if (error >= 0)
		return error;
	do {
		const int ceiling = ceiling_of(load_relaxed(word_of(m)));

		error = wefti_schedule_of(&wefti_pt).priority > ceiling ?
			EINVAL : 0;
		if (error)
			break;
		error = change_priority(held, ceiling);
		if (error)
			return error;
		held = ceiling;
		error = lock_under(m, ceiling_bits(ceiling), deadline);
	} while (error == CHANGED);
	if (error) {
		if (held != NONE)
			(void)!change_priority(held, NONE);
	} else {
		wefti_mutex_own(m);
		m->__data.__count = 1;
	}
	wefti_signals_run_any();
	return error;
}

static void wake(_Atomic uint32_t *word, int is_shared, unsigned most)
{
	if (is_shared)
		wefti_shared_wake(word);
	else
		wefti_lot_wake(word, most, WEFTI_LOT_ANY);
}

int wefti_ceiling_unlock(pthread_mutex_t *m)
{
	_Atomic uint32_t *word = word_of(m);
	const int kind = wefti_mutex_kind(m), shared = wefti_mutex_is_shared(m);
	uint32_t seen = load_relaxed(word);
	int error;

	if (kind == PTHREAD_MUTEX_RECURSIVE_NP) {
		if (!wefti_mutex_is_mine(m))
			return EPERM;
		if (--m->__data.__count != 0)
			return 0;
	} else if (kind == PTHREAD_MUTEX_ERRORCHECK_NP &&
		   (!wefti_mutex_is_mine(m) || !is_taken(seen))) {
		return EPERM;
	}
	wefti_mutex_disown(m);
	while (!cas_release(word, &seen, seen & WEFTI_CEILING_MASK))	/* P1 */
		;
	if ((seen & ~WEFTI_CEILING_MASK) > 1)
		wake(word, shared, 1);
	error = change_priority(ceiling_of(seen), NONE);
	wefti_signals_run_any();
	return error;
}

/* --- another ceiling ------------------------------------------------- */

/* Takes the mutex, whatever the caller's priority. */
static void take_any(pthread_mutex_t *m)
{
	uint32_t bits;

	do {
		bits = load_relaxed(word_of(m)) & WEFTI_CEILING_MASK;
	} while (lock_under(m, bits, INT64_MAX) != 0);
}

static int is_priority(int ceiling)
{
	return ceiling >= sched_get_priority_min(SCHED_FIFO) &&
	       ceiling <= sched_get_priority_max(SCHED_FIFO);
}

static int set_ceiling(pthread_mutex_t *m, int ceiling, int *old)
{
	_Atomic uint32_t *word = word_of(m);
	int before, again = 0, shared = wefti_mutex_is_shared(m), error;
	uint32_t seen;

	if (wefti_mutex_is_mine(m)) {
		if (wefti_mutex_kind(m) == PTHREAD_MUTEX_ERRORCHECK_NP)
			return EDEADLK;
		again = wefti_mutex_kind(m) == PTHREAD_MUTEX_RECURSIVE_NP;
	}
	if (!again)
		take_any(m);
	seen = load_relaxed(word);
	before = ceiling_of(seen);
	error = again ? change_priority(before, ceiling) : 0;
	if (error)
		return error;
	if (old)
		*old = before;
	while (!cas_release(word, &seen, ceiling_bits(ceiling) |	/* P1 */
			    (again ? seen & ~WEFTI_CEILING_MASK : 0)))
		;
	wake(word, shared, UINT32_MAX);
	return 0;
}

/* libc's header says that old is never NULL; libc's function allows it. */
EXPORT int pthread_mutex_setprioceiling(pthread_mutex_t *m, int ceiling, int *old)
{
	int *volatile to = old;

	if (!wefti_guard())
		return REAL(pthread_mutex_setprioceiling)(m, ceiling, old);
	if (!(m->__data.__kind & WEFTI_MUTEX_PROTECT) || !is_priority(ceiling))
		return EINVAL;
	return set_ceiling(m, ceiling, to);
}
