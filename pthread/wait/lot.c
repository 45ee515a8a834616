/* SPDX-License-Identifier: MIT */
/*
 * pthread/wait/lot.c - threads wait at an address, until they are woken there
 *
 * Structure
 *   A table of buckets. The address chooses the bucket, which is a lock and a list of
 *   waiting threads. The highest real-time priority is first. Among equals (and so among threads
 *   without a real-time policy) the oldest is first. An entry is on the waiting thread's
 *   stack.
 *
 * States of an entry
 *   QUEUED  in the list
 *   WOKEN   taken out by a waker
 *   HANDED  the same, and the thread owns the lock that it waited for
 *
 *   QUEUED --waker, under the bucket's lock--> WOKEN
 *   QUEUED --unlock, under the bucket's lock; a mutex's entry, over 1 ms old--> HANDED
 *   QUEUED --its thread, under the bucket's lock--> gone
 *   WOKEN, HANDED --its thread--> gone
 *
 * Writers
 *   *entry.count  lot_list.h: change_count
 *   entry.state  wake, wefti_lot_wait
 *   entry.bucket  lot_list.h: insert
 *
 * Invariants
 *   I1  The list and the counts of its entries change under the bucket's lock. So a count
 *       needs no RMW. A check runs under the lock, too. So a waker that takes the lock
 *       after the check finds the entry.
 *   I2  A thread that finds its entry WOKEN counts as woken, however its park ended. So a
 *       time-out loses no wake-up.
 *   I3  A waker does not touch an entry after it has stored WOKEN or HANDED in it. It may
 *       still wake the futex at the entry's address, which harms no later owner.
 *   I4  A thread that libc cancels in its sleep takes its entry out before any other
 *       frame is unwound. If it was WOKEN by then, another thread is woken in its place,
 *       at the key where the entry lay last.
 *
 * Pairs
 *   P1  wake stores WOKEN or HANDED -> the entry's thread loads it: what the waker
 *       has done before, and that it no longer uses the entry (I3)
 *   P2  a count changes -> its object's owner loads it without the lock: the entry was
 *       there, or is gone. A waker that must find the entry is ordered otherwise, as by
 *       the condition variable's mutex
 *   A bucket's lock (pthread/core/hold.h) orders the list, the entries in it, and a check
 *   before the waker that locks next. The 0 that unlock stores is of mutex.c: P1.
 *   Model: tests/model/loom/c/lot.c, with hold.h and a woken thread's handlers.
 *
 * Progress
 *   Blocking. The bucket's lock is held for a few list operations, by a kernel thread
 *   that is inside the runtime: so no thread is preempted or parks while it holds the
 *   lock. A thread that finds it taken sleeps in the kernel, and does not spin. The
 *   operations of the objects themselves come here only if a thread waits, or must.
 *
 * Rejected: weft's own mutex and condition variable inside glibc's types. They name their
 * owner by a struct that a kernel thread gets when the runtime starts, and loses in the
 * child of a fork. But a program holds its locks through both. A lock would have two
 * layouts: one for processes that share it and one for those that do not. And rwlock,
 * once and syscall(SYS_futex) need this lot anyway.
 *
 * Source
 *   F. Pizlo, "Locking in WebKit", 2016, for keeping the waiters apart from the
 *   lock, and for the hand-off after a millisecond.
 */
#include "pthread/wait/lot.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "os/call/clock.h"
#include "pthread/core/hold.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/unwound.h"
#include "pthread/wait/lot_list.h"
#include "pthread/wait/lot_thread.h"
#include "sched/park.h"
#include "sched/ready.h"
#include "syscall.h"

#define PATIENCE_NS	1000000

/* QUEUED -> how */
static void wake(struct entry *e, uint32_t how)
{
	struct wefti_thread *t = e->t;
	uint64_t seq = e->seq;

	leave_list(e);
	store_release(&e->state, how);	/* P1; I3 */
	if (t)
		unpark(t, seq);
	else
		wake_sleeper(&e->state);
}

/* Under the lock of b. */
static unsigned wake_at(struct bucket *b, const void *key, unsigned most, uint32_t bits)
{
	unsigned n = 0;

	for (struct entry *e = b->first, *next; e && n < most; e = next) {
		next = e->next;
		if (e->key == key && (e->bits & bits)) {
			wake(e, WOKEN);
			n++;
		}
	}
	return n;
}

unsigned wefti_lot_wake(const void *key, unsigned most, uint32_t bits)
{
	struct bucket *b = bucket_of(key);
	struct wefti_hold h = wefti_hold_begin();
	unsigned n;

	wefti_hold_lock(&b->lock);
	n = wake_at(b, key, most, bits);
	wefti_hold_unlock(&b->lock);
	wefti_hold_end(h);
	return n;
}

void wefti_lot_run_handlers(const void *key)
{
	if (likely(!wefti_pt_is_urgent(wefti_cancel_urgent())))
		return;
	wefti_lot_wake(key, 1, WEFTI_LOT_ANY);
	wefti_cancel_point_async();
	wefti_signals_run();
}

void wefti_lot_unlock(_Atomic uint32_t *word)
{
	struct bucket *b = bucket_of(word);
	struct wefti_hold h = wefti_hold_begin();
	struct entry *e;

	wefti_hold_lock(&b->lock);
	e = first_at(b, word);
	if (e && wefti_os_now_ns() - e->since > PATIENCE_NS) {
		b->handed = word;
		b->heir = e->t;
		wake(e, HANDED);
	} else {
		if (b->handed == word)
			b->handed = NULL;
		store_seq_cst(word, 0);	/* of mutex.c: P1 */
		if (e)
			wake(e, WOKEN);
	}
	wefti_hold_unlock(&b->lock);
	wefti_hold_end(h);
}

/* Calls act if no thread waits at key. Otherwise the first is woken if `wakes` says so. */
static ALWAYS_INLINE void wake_first_or(const void *key, int wakes,
					void (*act)(void *arg), void *arg)
{
	struct bucket *b = bucket_of(key);
	struct wefti_hold h = wefti_hold_begin();
	struct entry *e;

	wefti_hold_lock(&b->lock);
	e = first_at(b, key);
	if (!e)
		act(arg);
	else if (wakes)
		wake(e, WOKEN);
	wefti_hold_unlock(&b->lock);
	wefti_hold_end(h);
}

void wefti_lot_if_none(const void *key, void (*act)(void *arg), void *arg)
{
	wake_first_or(key, 0, act, arg);
}

void wefti_lot_wake_or(const void *key, void (*act)(void *arg), void *arg)
{
	wake_first_or(key, 1, act, arg);
}

void wefti_lot_locked(const void *key, void (*act)(void *arg), void *arg)
{
	struct bucket *b = bucket_of(key);
	struct wefti_hold h = wefti_hold_enter(&b->lock);

	act(arg);
	wefti_hold_leave(&b->lock, h);
}

int wefti_lot_wake_two(const void *key, unsigned most, const void *other,
		       unsigned most_there, int (*act)(void *arg), void *arg)
{
	struct bucket *a = bucket_of(key), *b = bucket_of(other);
	struct wefti_hold h = wefti_hold_begin();
	int there, n;

	lock_two(a, b);
	n = there = act(arg);
	if (there >= 0)
		n = (int)wake_at(a, key, most, WEFTI_LOT_ANY);
	if (there > 0)
		n += (int)wake_at(b, other, most_there, WEFTI_LOT_ANY);
	unlock_two(a, b);
	wefti_hold_end(h);
	return n;
}

static void move(struct entry *e, const void *to, struct bucket *b)
{
	leave_list(e);
	e->count = NULL;
	e->key = to;
	insert(b, e);
}

/* Under the locks of both. */
static int requeue(struct bucket *a, const void *from, unsigned most_woken,
		   struct bucket *b, const void *to, unsigned most)
{
	unsigned woken = 0, moved = 0;

	for (struct entry *e = a->first, *next; e; e = next) {
		next = e->next;
		if (e->key != from)
			continue;
		if (woken < most_woken) {
			wake(e, WOKEN);
			woken++;
		} else if (moved < most) {
			if (from != to)
				move(e, to, b);
			moved++;
		}
	}
	return (int)(woken + moved);
}

int wefti_lot_requeue(const void *from, unsigned most_woken, const void *to,
		      unsigned most, int (*check)(void *arg), void *arg)
{
	struct bucket *a = bucket_of(from), *b = bucket_of(to);
	struct wefti_hold h = wefti_hold_begin();
	int n = -EAGAIN;

	lock_two(a, b);
	if (!check || check(arg))
		n = requeue(a, from, most_woken, b, to, most);
	unlock_two(a, b);
	wefti_hold_end(h);
	return n;
}

struct sleeper {
	struct entry *e;
	const struct wefti_lot_wait *w;
	enum wefti_lot_end end;
};

static void sleep_at_point(void *arg)
{
	struct sleeper *s = arg;

	s->end = sleep_until_woken(s->e, s->w);
}

static enum wefti_lot_end park(struct wefti_thread *self, uint64_t seq,
			       const struct wefti_lot_wait *w)
{
	enum wefti_cause cause;

	if (w->urgent && wefti_pt_is_urgent(w->urgent))
		wefti_unpark(self, seq, WEFTI_CAUSE_WOKEN);
	cause = wefti_park(self, w->deadline);
	wefti_pt_wait_ends();
	/* The entry says whether a waker ended the wait: settle(). */
	return cause == WEFTI_CAUSE_TIMEDOUT ? WEFTI_LOT_TIMEDOUT :
					       WEFTI_LOT_INTERRUPTED;
}

/* The wait ended early. Returns 0 if a waker was first. */
static NOINLINE int leave_if_queued(struct entry *e, const struct wefti_lot_wait *w,
				    enum wefti_lot_end end)
{
	struct bucket *b = lock_bucket_of(e);
	int queued = load_seq_cst(&e->state) == QUEUED;

	if (queued && end == WEFTI_LOT_INTERRUPTED && w->interrupted)
		w->interrupted(w->arg);
	if (queued)
		leave_list(e);
	wefti_hold_unlock(&b->lock);
	return queued;
}

/* I2: returns how the wait ended. If no waker ended it, the entry leaves the list. */
static enum wefti_lot_end settle(struct entry *e, const struct wefti_lot_wait *w,
				 enum wefti_lot_end end)
{
	if (unlikely(load_relaxed(&e->state) == QUEUED) && leave_if_queued(e, w, end))
		return end;
	return load_seq_cst(&e->state) == HANDED ?	/* P1 */
	       WEFTI_LOT_HANDED : WEFTI_LOT_WOKEN;
}

/* libc has cancelled the calling thread in its sleep: I4. */
static void leave(void *arg)
{
	const struct sleeper *s = arg;
	const struct wefti_hold h = wefti_hold_begin();
	const enum wefti_lot_end end = settle(s->e, s->w, WEFTI_LOT_CHANGED);

	wefti_hold_end(h);
	if (end == WEFTI_LOT_WOKEN)
		wefti_lot_wake(s->e->key, 1, WEFTI_LOT_ANY);
	s->w->left(s->w->arg);
}

/* The wait of a kernel thread. It may be one of libc's threads, which libc may cancel. */
static enum wefti_lot_end sleep_here(struct entry *e, const struct wefti_lot_wait *w,
				     int is_libcs)
{
	struct sleeper s = { .e = e, .w = w };

	if (!is_libcs || !w->left)
		return sleep_until_woken(e, w);
	wefti_unwound_point(sleep_at_point, &s, leave);
	return s.end;
}

enum wefti_lot_end wefti_lot_wait(const struct wefti_lot_wait *w)
{
	struct bucket *b = bucket_of(w->key);
	struct wefti_thread *self = wefti_self(), *green = wefti_pt_green_as(self);
	struct wefti_hold h = wefti_hold_begin_as(self);
	struct entry e = {
		.key = w->key, .t = green, .count = w->count,
		.bits = w->bits ? w->bits : WEFTI_LOT_ANY,
		.priority = green ? (int8_t)load_relaxed(&wefti_pt.real_time) : 0,
		/* Only a mutex is handed over. In another wait the clock is a fifth of the time. */
		.since = w->why == WEFTI_WHY_MUTEX ? wefti_os_now_ns() : INT64_MAX,
	};
	enum wefti_lot_end end;
	const struct wefti_thread *heir;

	store_relaxed(&e.state, QUEUED);
	wefti_hold_lock(&b->lock);
	if (w->check && !w->check(w->arg)) {
		wefti_hold_unlock(&b->lock);
		wefti_hold_end(h);
		return WEFTI_LOT_CHANGED;
	}
	if (green) {
		e.seq = wefti_park_begin(green, w->deadline == INT64_MAX ? 0 :
					 WEFTI_WAIT_TIMED, w->why,
					 w->why == WEFTI_WHY_JOIN ? w->joins :
								    w->key);
		wefti_pt_wait_begins(e.seq);
	}
	change_count(&e, 1);
	heir = b->handed == w->key ? b->heir : NULL;
	insert(b, &e);
	wefti_hold_unlock(&b->lock);
	if (w->queued)
		w->queued(w->arg);
	if (green) {
		if (w->owner)
			record_owner(green, w, heir);
		end = park(green, e.seq, w);
	} else {
		wefti_hold_end(h);
		end = sleep_here(&e, w, !h.self);
		h = wefti_hold_begin();
	}
	end = settle(&e, w, end);
	wefti_hold_end(h);
	return end;
}

void wefti_lot_forget(void)
{
	memset(buckets, 0, sizeof(buckets));
}
