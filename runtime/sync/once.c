/* SPDX-License-Identifier: MIT */
/*
 * sync/once.c - does something once in a process
 *
 * Structure
 *   A wait list (sync/waitlist.c), with two flags of its own in the word:
 *   DONE     the function has been run; stays set, in every state
 *   RUNNING  in FREE or WAITING: a thread runs the function
 *   count is the number of failed runs left to the server: 0 or 1.
 *   runner   the thread that runs the function, for that thread and for dumps
 *
 *   A call after the function has been run is one load. A run without waiters is two
 *   RMWs.
 *
 * States
 *   NEW       FREE as 0
 *   RUNNING   FREE, WAITING or SERVED
 *   DONE      FREE or, until the waiters are woken, SERVED
 *
 *   NEW --call--> RUNNING --fn returned 0--> DONE
 *   RUNNING --fn failed, no thread waits--> NEW
 *   RUNNING --fn failed--> RUNNING by the oldest waiter
 *
 * Writers
 *   once.runner  once_slow
 *
 * Invariants
 *   I1  At most one thread runs the function. Only that thread sets DONE, or reports
 *       that it failed.
 *   I2  Threads wait only while RUNNING is set. The end of the run reaches the server,
 *       as DONE or as the count.
 *
 * Linearization
 *   The run begins at the CAS that sets RUNNING, or at the end of the wait as HANDED.
 *   The function has been run at the CAS that sets DONE.
 *
 * Progress
 *   Lock-free; see waitlist.c. A waiting thread waits for the function.
 *
 * ABA and reclamation
 *   See waitlist.c.
 *
 * Pairs
 *   P1  the CAS that sets DONE -> the load, or the CAS, that sees it: what the
 *       function did
 *   P2  of waitlist.c (P1, P2 there): a push, a request -> the CAS that takes it
 *   Model: tests/model/loom/c/once.c.
 *
 * Source
 *   As pthread_once, except that a failed run is repeated.
 */
#include "weft/once.h"

#include <errno.h>
#include <stddef.h>

#include "sched/park.h"
#include "sched/ready.h"
#include "sync/waitlist.h"

#define DONE	WEFTI_LIST_DONE
#define RUNNING	WEFTI_LIST_RUNNING

struct wefti_once {
	struct wefti_waitlist list;
	_Atomic(struct wefti_thread *) runner;
};

_Static_assert(sizeof(struct wefti_once) == sizeof(struct weft_once),
	       "the public size is the size");
_Static_assert(offsetof(struct wefti_once, runner) ==
	       offsetof(struct wefti_owned_list, owner), "dumps find it");

/* s->value: no thread runs it. */

static void run_ended(struct wefti_service *s, uint32_t failures)
{
	if (s->own & DONE) {
		while (wefti_waitlist_wake_oldest(s))
			;
		return;
	}
	if (failures)
		s->value = 1;
	if (s->value && wefti_waitlist_wake_oldest(s))
		s->value = 0;
}

static void arrive(struct wefti_service *s, struct wefti_node *node)
{
	wefti_waitlist_append(s, node);
	run_ended(s, 0);
}

static uint64_t rest(struct wefti_service *s)
{
	if (s->own & DONE)
		return DONE;
	return s->value ? 0 : RUNNING;
}

/* HANDED: this thread is the runner now. */
static void wake(struct wefti_service *s, struct wefti_node *node)
{
	struct wefti_thread *t = node->thread;

	if (wefti_wait_finish(t, s->own & DONE ? WEFTI_CAUSE_WOKEN :
						 WEFTI_CAUSE_HANDED))
		wefti_ready(t);
}

static const struct wefti_waitlist_ops ops = {
	.arrive = arrive, .request = run_ended, .rest = rest, .wake = wake,
};

enum part { SEES_DONE, RUNS, WAITS, MAY_WAIT };

/* NEW -> RUNNING: RUNS. With a node, RUNNING with one more waiter: WAITS. */
static enum part take_part(struct wefti_once *o, struct wefti_node *node)
{
	uint64_t w = load_relaxed(&o->list.word);

	for (;;) {
		if (w & DONE) {
			(void)load_acquire(&o->list.word);	/* P1 */
			return SEES_DONE;
		}
		if (w == 0) {
			if (cas_weak_acquire(&o->list.word, &w, RUNNING)) /* P2 */
				return RUNS;
		} else if (!node) {
			return MAY_WAIT;
		} else if (cas_weak_release(&o->list.word, &w,	/* P2 */
				wefti_waitlist_pushed(w, node, 0))) {
			return WAITS;
		}
	}
}

/* The run is over: RUNNING -> DONE, NEW, or RUNNING by a waiter. */
static void end_run(struct wefti_once *o, int failed)
{
	uint64_t w = load_relaxed(&o->list.word), next;

	do {
		if (!(w & WEFTI_LIST_QUEUED))
			next = failed ? 0 : DONE;
		else if (w & WEFTI_LIST_BUSY)
			next = failed ? w + WEFTI_LIST_ONE : w | DONE;
		else
			next = wefti_waitlist_taken(failed ? w : w | DONE);
	} while (!cas_weak_acq_rel(&o->list.word, &w, next));	/* P1, P2 */

	if ((w & WEFTI_LIST_QUEUED) && !(w & WEFTI_LIST_BUSY))
		wefti_waitlist_serve(&o->list, failed ? w + WEFTI_LIST_ONE :
							w | DONE, &ops);
}

static enum part wait_turn(struct wefti_once *o, struct wefti_thread *self,
			   int64_t deadline, int *error)
{
	uint64_t flags = deadline == WEFT_FOREVER ? 0 : WEFTI_WAIT_TIMED;
	struct wefti_node *node = wefti_node_get(self);
	enum part part;

	*error = -ENOMEM;
	if (!node)
		return MAY_WAIT;
	node->seq = wefti_park_begin(self, flags, WEFTI_WHY_ONCE, o);
	part = take_part(o, node);
	if (part != WAITS) {
		wefti_park_end(self);
		wefti_node_drop(node);
		return part;
	}
	switch (wefti_park(self, deadline)) {
	case WEFTI_CAUSE_HANDED:
		wefti_node_drop(node);
		return RUNS;
	case WEFTI_CAUSE_WOKEN:
		wefti_node_drop(node);
		return SEES_DONE;
	default:
		wefti_waitlist_withdraw(&o->list, node, self, &ops);
		*error = -ETIMEDOUT;
		return MAY_WAIT;
	}
}

static enum part get_part(struct wefti_once *o, struct wefti_thread *self,
			  int64_t deadline, int *error)
{
	enum part part = take_part(o, NULL);

	if (part != MAY_WAIT)
		return part;
	*error = load_relaxed(&o->runner) == self ? -EDEADLK : -EAGAIN;
	if (*error == -EDEADLK || deadline == WEFT_NO_WAIT)
		return MAY_WAIT;
	return wait_turn(o, self, deadline, error);
}

static NOINLINE int once_slow(struct wefti_once *o, int (*fn)(void *arg),
			      void *arg, int64_t deadline)
{
	struct wefti_thread *self = wefti_enter();
	int error = 0;
	enum part part = get_part(o, self, deadline, &error);

	wefti_leave(self);
	if (part == SEES_DONE)
		return 0;
	if (part != RUNS)
		return error;
	store_relaxed(&o->runner, self);
	error = fn(arg);
	store_relaxed(&o->runner, NULL);
	self = wefti_enter();
	end_run(o, error != 0);
	wefti_leave(self);
	return error;
}

int weft_once_until(struct weft_once *once, int (*fn)(void *arg), void *arg,
		    int64_t deadline)
{
	struct wefti_once *o = (struct wefti_once *)(void *)once;

	if (likely(load_acquire(&o->list.word) & DONE))	/* P1 */
		return 0;
	return once_slow(o, fn, arg, deadline);
}

int weft_once(struct weft_once *once, int (*fn)(void *arg), void *arg)
{
	return weft_once_until(once, fn, arg, WEFT_FOREVER);
}
