/* SPDX-License-Identifier: MIT */
/*
 * mutex/spinmutex.c - a strict mutex whose queue is behind a spin lock
 *
 * Structure
 *   guard protects taken and the list first .. last of waiters. Their entries
 *   are on the waiters' stacks. owner is the thread that has it, so wrong use
 *   is refused, as by weft's mutex.
 *
 * States
 *   FREE      !taken, no waiters
 *   TAKEN     taken; the list holds who waits, in order of arrival
 *
 *   FREE --lock--> TAKEN --unlock, nobody waits--> FREE
 *   TAKEN --unlock, hands over to the first--> TAKEN
 *
 * Invariants
 *   I1  taken and the list change only with guard held.
 *   I2  An entry that was taken off the list belongs to who took it, until it
 *       resolves the waiter's episode; the waiter returns only after that.
 *
 * Linearization
 *   The store that releases the guard.
 *
 * Progress
 *   Blocking: if a kernel thread is stopped with the guard held, every lock and
 *   unlock spins until it goes on. That is what is measured here. It is the one
 *   place where the rule against unbounded spinning is broken on purpose.
 *
 * ABA and reclamation
 *   None: the guard excludes everybody else.
 *
 * Pairs
 *   P1  guard's release  ->  guard's acquire: taken, the list
 *
 * Source
 *   T. Anderson, "The performance of spin lock alternatives for shared-memory
 *   multiprocessors", 1990: test-and-test-and-set with back-off. The mutex is
 *   the one that LFthreads (2007) was compared with.
 */
#include "mutex/spinmutex.h"

#include <errno.h>
#include <weft/base.h>

#include "sched/park.h"

#define BACKOFF_MAX	1024u

struct bench_spin_waiter {
	struct bench_spin_waiter *next;
	struct wefti_thread *thread;
	uint64_t seq;
};

static void guard_take(struct bench_spin_mutex *m)
{
	uint32_t backoff = 1;

	for (;;) {
		/* Relaxed: a look that spares the others the cache line. */
		if (!load_relaxed(&m->guard) && !xchg_acquire(&m->guard, 1))
			return;		/* P1: guard_give's release */
		for (uint32_t i = 0; i < backoff; i++)
			wefti_arch_pause();
		if (backoff < BACKOFF_MAX)
			backoff *= 2;
	}
}

static void guard_give(struct bench_spin_mutex *m)
{
	store_release(&m->guard, 0);	/* P1 */
}

int bench_spin_lock(struct bench_spin_mutex *m)
{
	struct wefti_thread *self = wefti_enter();
	struct bench_spin_waiter waiter = { .thread = self };

	guard_take(m);
	if (!m->taken) {
		m->taken = 1;		/* FREE -> TAKEN */
		m->owner = self;
		guard_give(m);
		wefti_leave(self);
		return 0;
	}
	if (m->owner == self) {
		guard_give(m);
		wefti_leave(self);
		return -EDEADLK;
	}
	waiter.seq = wefti_park_begin(self, 0, WEFTI_WHY_MUTEX, m);
	if (m->last)
		m->last->next = &waiter;
	else
		m->first = &waiter;
	m->last = &waiter;
	guard_give(m);
	wefti_park(self, WEFT_FOREVER);	/* TAKEN, and now ours */
	wefti_leave(self);
	return 0;
}

int bench_spin_unlock(struct bench_spin_mutex *m)
{
	struct wefti_thread *self = wefti_enter();
	struct bench_spin_waiter *first;

	guard_take(m);
	if (m->owner != self) {
		guard_give(m);
		wefti_leave(self);
		return -EPERM;
	}
	first = m->first;
	m->owner = first ? first->thread : NULL;
	if (first) {
		m->first = first->next;
		if (!m->first)
			m->last = NULL;
	} else {
		m->taken = 0;		/* TAKEN -> FREE */
	}
	guard_give(m);
	if (first)
		wefti_unpark(first->thread, first->seq, WEFTI_CAUSE_HANDED);
	wefti_leave(self);
	return 0;
}
