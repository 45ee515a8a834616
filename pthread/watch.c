/* SPDX-License-Identifier: MIT */
/*
 * pthread/watch.c - green threads wait for words that other processes wake
 *
 * Structure
 *   A table of places, one for each word that threads of this process wait for,
 *   under one lock. The threads themselves are parked in the lot, at the word.
 *   The watcher, a kernel thread, goes round: it looks at each word, wakes in
 *   the lot whom the word lets go on, and sleeps by futex_waitv() until one of
 *   the words, or its doorbell, is woken.
 *
 * States of a place
 *   FREE     no users
 *   USED     threads are between begin and end; count of them are in the lot
 *   WATCHED  USED, and among the words that the watcher sleeps on, or has slept
 *            on since its last round
 *   OUT      USED; of a lock: the watcher has woken one, which has not looked at
 *            the word yet
 *
 *   FREE --begin--> USED --round--> WATCHED --round--> USED
 *   USED --round wakes one--> OUT --queued, end--> USED
 *   any --end of the last user--> FREE (a new generation)
 *
 * Invariants
 *   I1  A place changes under the lock, but for its count, which the lot keeps.
 *   I2  A word is only read under the lock, while its count is not 0: who waits
 *       there has not gone on, and the object lives. A thread that times out
 *       while the word is being read comes to end, and waits for the lock.
 *   I3  Places are not on anybody's stack. A handler that leaves by longjmp()
 *       runs after end; where it interrupts the few instructions on either side
 *       of the lot's wait, a place stays used with nobody in it, and is lost.
 *   I4  The watcher sleeps on a lock's word only with a value by which the
 *       owner will wake; on a condition variable's with the number of signals
 *       that it has served.
 *   I5  Who queues at a place that is not WATCHED rings; and the doorbell is
 *       one of the words. So while the watcher sleeps, a place with somebody in
 *       the lot is WATCHED, or OUT.
 *   I6  Who was woken at an OUT place looks at the word before it queues again
 *       or ends. So OUT does not last, and a lock that is given back meanwhile
 *       is seen by it.
 *   I7  Whoever waits for a condition variable is served each signal since it
 *       began, in its process's turn, or one before it is. Signals from before
 *       it began are served before it queues, so that it takes none of those
 *       that are meant for older ones, here or elsewhere.
 *
 * Why no wake-up is lost
 *   A waker changes the word, then asks the kernel to wake one who sleeps on it.
 *   If that is our watcher, it looks, and wakes one here; if it is awake, it
 *   looks before it sleeps, as the kernel compares. If nobody here waits any
 *   more, because the last has just timed out, what the watcher was woken by may
 *   have been meant for another process: it passes it on. As futex_waitv() tells
 *   one of the words that were woken, not which others, it does so for each word
 *   it slept on that nobody waits for now. To wake for nothing is allowed: who
 *   is woken looks at its word.
 *
 *   What is lost is what the watcher was woken by in a process that is killed in
 *   the microseconds before somebody has looked at the word; as it is with
 *   libc's threads and condition variables.
 *
 * Turns
 *   Who gives a lock back, or signals, wakes one of its own process, without the
 *   kernel; each eighth time it leaves that to the kernel, which wakes in order
 *   of arrival. A signal that the kernel gave to another process is also served
 *   here when the watcher wakes the next time: as many as there are processes
 *   may be woken by one signal.
 *
 * Progress
 *   Blocking: the lock, as the lot's, which is taken under it.
 *
 * Rejected
 *   One of those who wait is in the kernel, for all: it may time out or leave by
 *   a handler at any time, and another would have to take its place first.
 *   To read a word when nobody is in the lot, to know what to pass on: its
 *   memory may be gone.
 */
#include "pthread/watch_place.h"

#include <linux/futex.h>
#include <string.h>

#include "os/futex.h"
#include "pthread/lot.h"
#include "pthread/shared.h"

#define OTHERS_TURN	8

struct wefti_watch_table wefti_watch_table;
#define table wefti_watch_table

/* I5. Returns 1 if the bell has to be rung when the lock is given back. */
static int ring_if_unwatched(struct wefti_watch *w)
{
	if (w->is_watched || !table.is_asleep)
		return 0;
	table.is_asleep = 0;
	fetch_add_seq_cst(&table.bell, 1);
	return 1;
}

static void ring(int is_needed)
{
	if (is_needed)
		wefti_os_futex_wake(&table.bell, 1);
}

static struct wefti_watch *find(const _Atomic uint32_t *word)
{
	for (unsigned i = 0; i < load_seq_cst(&table.limit); i++)
		if (table.places[i].users && table.places[i].word == word)
			return &table.places[i];
	return NULL;
}

/* --- whom a word lets go on ---------------------------------------- */

/* A lock is one's; which of those who wait has not been served, nobody knows. */
void wefti_watch_wake_elsewhere(const _Atomic uint32_t *word,
				enum wefti_watch_kind kind)
{
	wefti_shared_wake_kernel(word, kind == WEFTI_WATCH_COND ? INT32_MAX : 1);
}

/* I4. Not for condition variables. */
static int owner_will_wake(enum wefti_watch_kind kind, uint32_t value)
{
	if (kind == WEFTI_WATCH_LOCK)
		return value == 2;
	return (value & FUTEX_TID_MASK) && (value & FUTEX_WAITERS);
}

/* All that have come since we looked last: who broadcasts counts that first. */
static void serve_cond(struct wefti_watch *w)
{
	const struct wefti_watch_cond *c = (const void *)w->word;
	uint32_t signals = load_seq_cst(&c->signals);
	uint32_t broadcasts = load_seq_cst(&c->broadcasts);
	unsigned most = broadcasts != w->broadcasts ? UINT32_MAX :
						      signals - w->signals;

	w->signals = signals;
	w->broadcasts = broadcasts;
	if (most && wefti_lot_wake(w->word, most, WEFTI_LOT_ANY) < most &&
	    most != UINT32_MAX)
		wefti_watch_wake_elsewhere(w->word, w->kind);
}

int wefti_watch_look_at(struct wefti_watch *w, uint32_t *value)
{
	if (w->kind == WEFTI_WATCH_COND) {
		serve_cond(w);
		*value = w->signals;
		return load_seq_cst(&w->count) != 0;
	}
	*value = load_seq_cst(w->word);
	if (owner_will_wake(w->kind, *value))
		return 1;
	if (wefti_lot_wake(w->word, 1, WEFTI_LOT_ANY) != 0)
		w->is_out = 1;
	else
		wefti_watch_wake_elsewhere(w->word, w->kind);
	return 0;
}

/* --- who waits ----------------------------------------------------- */

static struct wefti_watch *take_place(_Atomic uint32_t *word,
				      enum wefti_watch_kind kind)
{
	unsigned i = 0;

	while (i < WEFTI_PLACES && table.places[i].users)
		i++;
	if (i == WEFTI_PLACES)
		return NULL;
	if (i >= load_seq_cst(&table.limit))
		store_seq_cst(&table.limit, i + 1);
	table.places[i].word = word;
	table.places[i].kind = kind;
	return &table.places[i];
}

/* I7: nobody has signalled since, for whom the caller waits already. */
static void begin_cond(struct wefti_watch *w)
{
	const struct wefti_watch_cond *c = (const void *)w->word;

	if (w->users > 0) {
		serve_cond(w);
		return;
	}
	w->signals = load_seq_cst(&c->signals);
	w->broadcasts = load_seq_cst(&c->broadcasts);
}

struct wefti_watch *wefti_watch_begin(_Atomic uint32_t *word,
				      enum wefti_watch_kind kind)
{
	struct wefti_watch *w;
	struct wefti_hold h;

	if (!wefti_pt_green() || !wefti_watcher_runs())
		return NULL;
	h = wefti_watch_enter();
	w = find(word);
	if (!w)
		w = take_place(word, kind);
	if (w && w->kind != kind)
		w = NULL;
	if (w && kind == WEFTI_WATCH_COND)
		begin_cond(w);
	if (w)
		w->users++;
	wefti_watch_leave(h);
	return w;
}

_Atomic uint32_t *wefti_watch_count(struct wefti_watch *w)
{
	return &w->count;
}

void wefti_watch_queued(struct wefti_watch *w)
{
	struct wefti_hold h = wefti_watch_enter();
	int is_needed = ring_if_unwatched(w);

	w->is_out = 0;
	wefti_watch_leave(h);
	ring(is_needed);
	/* It could not be made: what it wakes then may have been before. */
	if (unlikely(!wefti_watcher_runs()))
		wefti_lot_wake(w->word, UINT32_MAX, WEFTI_LOT_ANY);
}

static void free_place(struct wefti_watch *w)
{
	uint32_t limit = load_seq_cst(&table.limit);

	w->generation++;
	w->is_watched = 0;
	while (limit > 0 && !table.places[limit - 1].users)
		limit--;
	store_seq_cst(&table.limit, limit);
}

void wefti_watch_end(struct wefti_watch *w)
{
	struct wefti_hold h = wefti_watch_enter();
	int is_needed = 0;

	w->is_out = 0;
	if (--w->users == 0)
		free_place(w);
	else if (load_seq_cst(&w->count) != 0)
		is_needed = ring_if_unwatched(w);
	wefti_watch_leave(h);
	ring(is_needed);
}

/* --- who wakes ----------------------------------------------------- */

int wefti_watch_wake(const _Atomic uint32_t *word)
{
	struct wefti_hold h;
	struct wefti_watch *w;
	int woken = 0;

	if (load_seq_cst(&table.limit) == 0)
		return 0;
	h = wefti_watch_enter();
	w = find(word);
	if (w && ++w->turn % OTHERS_TURN != 0)
		woken = wefti_lot_wake(word, 1, WEFTI_LOT_ANY) != 0;
	wefti_watch_leave(h);
	return woken;
}

void wefti_watch_serve(const _Atomic uint32_t *word)
{
	struct wefti_hold h;
	struct wefti_watch *w;

	if (load_seq_cst(&table.limit) == 0)
		return;
	h = wefti_watch_enter();
	w = find(word);
	if (w && load_seq_cst(&w->count) != 0)
		serve_cond(w);
	wefti_watch_leave(h);
}

/* Those who wait are the parent's, and so is the watcher. */
void wefti_watch_forget(void)
{
	memset(table.places, 0, sizeof(table.places));
	store_seq_cst(&table.limit, 0);
	table.is_asleep = 0;
	store_seq_cst(&table.lock, 0);
	wefti_watcher_forget();
}
