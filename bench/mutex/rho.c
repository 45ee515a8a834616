/* SPDX-License-Identifier: MIT */
/*
 * mutex/rho.c - the hand-off mutex as LFthreads published it
 *
 * Structure
 *   count is how many own or want the mutex. A thread adds 1; if it was 0 the
 *   mutex is its own, else it puts itself on the stack `come` and parks. Unlock
 *   takes 1 away; if others are left it has to hand the mutex to one. If none
 *   of them stands in the queue yet, it leaves a token; the next to enqueue
 *   itself takes the token, and with it the duty to hand over.
 *
 * States
 *   FREE      count == 0
 *   OWNED     count > 0, token == 0: some thread owns it or is responsible
 *   ORPHAN    count > 0, token != 0: nobody owns it; the duty is for the taking
 *
 *   FREE --lock--> OWNED --unlock of the last--> FREE
 *   OWNED --unlock, nobody in the queue--> ORPHAN
 *   ORPHAN --a CAS of the token to 0--> OWNED
 *
 * Invariants
 *   I1  At most one thread is the owner or responsible.
 *   I2  oldest and last_token are used by that thread alone.
 *   I3  In ORPHAN at least one thread is between its fetch-and-add and its look
 *       at the token.
 *   I4  A waiter is on one list only, and taken from it once.
 *
 * Linearization
 *   lock: the fetch-and-add that found 0, or the resolve that hands over.
 *   unlock: its fetch-and-sub.
 *
 * Progress
 *   Lock-free; no thread waits for one that was stopped, except that a thread
 *   stopped between its fetch-and-add and its enqueue can leave the mutex in
 *   ORPHAN, with nobody else waiting. weft's own mutex has no such window.
 *
 * ABA and reclamation
 *   Tokens are numbered by 64 bits, so that a CAS never takes an older one.
 *   `come` is emptied as a whole by an exchange: no ABA.
 *
 * Pairs
 *   P1  enqueue's CAS of come  ->  the exchange: the waiter's entry
 *   P2  the store of a token   ->  its CAS: oldest, last_token, what the owner
 *                                  did under the mutex
 *   P3  unlock's fetch-and-sub ->  lock's fetch-and-add that finds 0: the same
 *   A waiter stores come, then looks at the token; unlock stores the token,
 *   then looks at come: both are sequentially consistent, or both could miss.
 *
 * Source
 *   A. Gidenstam, M. Papatriantafilou, "LFthreads: a lock-free thread library",
 *   OPODIS 2007. The queue is a stack that is reversed when it is taken (the
 *   paper has a FIFO of its own), and the token is numbered.
 */
#include "mutex/rho.h"

#include <weft/base.h>

#include "sched/park.h"

struct bench_rho_waiter {
	struct bench_rho_waiter *next;
	struct wefti_thread *thread;
	uint64_t seq;
};

static void enqueue(struct bench_rho *m, struct bench_rho_waiter *waiter)
{
	struct bench_rho_waiter *top = load_relaxed(&m->come);

	do {
		waiter->next = top;
	} while (!cas_weak_seq_cst(&m->come, &top, waiter));	/* P1 */
}

/*
 * The waiter that has come first, or NULL. Only the responsible thread calls
 * this (I2).
 */
static struct bench_rho_waiter *dequeue(struct bench_rho *m)
{
	struct bench_rho_waiter *first = m->oldest;

	if (!first) {
		struct bench_rho_waiter *w;

		w = xchg_seq_cst(&m->come, NULL);	/* P1: enqueue's CAS */
		while (w) {
			struct bench_rho_waiter *next = w->next;

			w->next = first;
			first = w;
			w = next;
		}
	}
	if (first)
		m->oldest = first->next;
	return first;
}

void bench_rho_lock(struct bench_rho *m)
{
	struct wefti_thread *self = wefti_enter();
	struct bench_rho_waiter waiter = { .thread = self };
	uint64_t token;

	if (fetch_add_seq_cst(&m->count, 1) == 0) {	/* P3; FREE -> OWNED */
		wefti_leave(self);
		return;
	}
	waiter.seq = wefti_park_begin(self, 0, WEFTI_WHY_MUTEX, m);
	enqueue(m, &waiter);

	token = load_seq_cst(&m->token);
	/* P2; ORPHAN -> OWNED: the duty is ours, and the queue not empty. */
	if (token && cas_seq_cst(&m->token, &token, 0)) {
		struct bench_rho_waiter *first = dequeue(m);

		if (first == &waiter) {
			wefti_park_end(self);
			wefti_leave(self);
			return;
		}
		WEFT_CHECK(first != NULL);
		wefti_unpark(first->thread, first->seq, WEFTI_CAUSE_HANDED);
	}
	wefti_park(self, WEFT_FOREVER);
	wefti_leave(self);
}

/* One is taken from count, and others are left: one of them gets the mutex. */
static void hand_over(struct bench_rho *m)
{
	for (;;) {
		struct bench_rho_waiter *first = dequeue(m);
		uint64_t token;

		if (first) {
			wefti_unpark(first->thread, first->seq,
				     WEFTI_CAUSE_HANDED);
			return;
		}
		token = ++m->last_token;
		/* P2; OWNED -> ORPHAN */
		store_seq_cst(&m->token, token);
		if (!load_seq_cst(&m->come))
			return;		/* the next to come sees the token */
		if (!cas_seq_cst(&m->token, &token, 0))
			return;		/* it was taken already */
	}
}

void bench_rho_unlock(struct bench_rho *m)
{
	struct wefti_thread *self = wefti_enter();

	if (fetch_sub_seq_cst(&m->count, 1) != 1)	/* P3 */
		hand_over(m);
	wefti_leave(self);
}
