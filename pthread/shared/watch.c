/* SPDX-License-Identifier: MIT */
/*
 * pthread/shared/watch.c - green threads wait for words that other processes wake
 *
 * Structure
 *   A table, under one lock, has a place for each word that threads of this process
 *   wait for. The threads themselves are parked in the lot, at the word. The watcher is
 *   a kernel thread that makes rounds. In a round it looks at each word, and wakes in
 *   the lot the threads that may go on. Then it sleeps in futex_waitv() until one of
 *   the words, or its doorbell, is woken.
 *
 * States of a place
 *   FREE     no users
 *   USED     threads are between begin and end; count of them are in the lot
 *   WATCHED  USED, and one of the words that the watcher sleeps on, or has slept
 *            on since its last round
 *   OUT      USED, and the word is a lock's: the watcher has woken a thread that has
 *            not looked at the word yet
 *
 *   FREE --begin--> USED --round--> WATCHED --round--> USED
 *   USED --round wakes one--> OUT --queued, end--> USED
 *   any --end of the last user--> FREE (a new generation)
 *
 * Writers
 *   watch_table.bell  ring_if_unwatched
 *   watch_table.limit  free_place, take_place, wefti_watch_forget
 *   watch_table.lock  wefti_watch_forget
 *
 * Invariants
 *   I1  A place changes only under the lock, except its count, which the lot keeps.
 *   I2  A word is read only under the lock, and while its count is not 0. Then the
 *       waiting threads have not gone on, and the object still exists. A thread that
 *       times out while its word is read goes to end, and waits there for the lock.
 *   I3  Places are not on any thread's stack. A handler that leaves by longjmp()
 *       runs after end. If it interrupts the few instructions on either side of the
 *       lot's wait, the place stays used with no thread in it, and is lost.
 *   I4  The watcher sleeps on a lock's word only with a value that makes the owner
 *       wake. It sleeps on a condition variable's word with the number of signals
 *       that it has served.
 *   I5  A thread that queues at a place that is not WATCHED rings the doorbell, and
 *       the doorbell is one of the words. So while the watcher sleeps, each place with
 *       a thread in the lot is WATCHED or OUT.
 *   I6  A thread that was woken at an OUT place looks at the word before it queues
 *       again or ends. So OUT does not last, and that thread sees an unlock that
 *       happens meanwhile.
 *   I7  Each process serves each signal. It wakes as many threads as there were
 *       signals since it last looked, or all if fewer wait, the oldest first.
 *   I8  One lock is noted for the kernel (pthread/shared/watcher.c): the last at which
 *       a thread here was woken, or on which the watcher began to sleep.
 *
 * Why no wake-up is lost
 *   A waker changes the word, then asks the kernel to wake the sleepers on it. A
 *   watcher that sleeps is woken and looks. A watcher that is awake looks before it
 *   sleeps, because the kernel compares the values. A spurious wake-up is allowed: a
 *   woken thread looks at its word.
 *
 *   Our waker wakes all watchers, not one: the process of a single one might end
 *   before its watcher has looked, although no thread waits there any more. The kernel,
 *   and libc's threads of other processes, wake only one sleeper on a lock. If no
 *   thread here waits for the lock now, because the last has just timed out, the
 *   watcher passes the wake-up on. futex_waitv() reports only one of the words that were
 *   woken. So the watcher passes on for each lock that it slept on and that no thread
 *   waits for. If the process ends, the kernel passes the wake-up on (I8), as it does
 *   for libc's robust mutexes. It does so also if a thread here had been woken and has
 *   not looked yet. If several locks are unlocked in the same microseconds, the kernel
 *   does so for only one of them.
 *
 * Turns
 *   A thread that unlocks or signals wakes one thread of its own process, without the
 *   kernel. If none waits here, and every eighth time, it wakes one thread in each
 *   process, and all of libc's threads that wait at the word.
 *
 * Progress
 *   Blocking: the table's lock. The lot's locks are taken under it, and block too.
 *
 * Rejected
 *   One waiting thread sleeps in the kernel for all of them: it may time out or leave
 *   by a handler at any time, and another would have to take its place first.
 *   Reading a word while no thread is in the lot, to know whether to pass on: the
 *   word's memory may be gone.
 */
#include "pthread/shared/watch_place.h"

#include <linux/futex.h>
#include <string.h>

#include "os/call/futex.h"
#include "pthread/shared/mutex_layout.h"
#include "pthread/shared/shared.h"
#include "pthread/wait/lot.h"

#define OTHERS_TURN	8

struct wefti_watch_table wefti_watch_table TABLE;
#define table wefti_watch_table

/* I5. Returns 1 if the caller has to ring the bell after it unlocks. */
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

/* --- which threads may go on --------------------------------------- */

/* I4. Not for condition variables. A lock may have a ceiling (pthread/sync/ceiling.c). */
static int owner_will_wake(enum wefti_watch_kind kind, uint32_t value)
{
	if (kind == WEFTI_WATCH_LOCK)
		return (value & ~WEFTI_CEILING_MASK) == 2;
	return (value & FUTEX_TID_MASK) && (value & FUTEX_WAITERS);
}

/* I7. A broadcast increments broadcasts before signals. So signals is read first. */
static void serve_cond(struct wefti_watch *w)
{
	const struct wefti_watch_cond *c = (const void *)w->word;
	uint32_t signals = load_seq_cst(&c->signals);
	uint32_t broadcasts = load_seq_cst(&c->broadcasts);
	unsigned most = broadcasts != w->broadcasts ? UINT32_MAX :
						      signals - w->signals;

	w->signals = signals;
	w->broadcasts = broadcasts;
	if (most)
		wefti_lot_wake(w->word, most, WEFTI_LOT_ANY);
}

int wefti_watch_check(struct wefti_watch *w, uint32_t *value)
{
	if (w->kind == WEFTI_WATCH_COND) {
		serve_cond(w);
		*value = w->signals;
		return load_seq_cst(&w->count) != 0;
	}
	*value = load_seq_cst(w->word);
	if (owner_will_wake(w->kind, *value))
		return 1;
	wefti_watcher_note(w->word);
	if (wefti_lot_wake(w->word, 1, WEFTI_LOT_ANY) != 0)
		w->is_out = 1;
	else
		wefti_shared_wake_kernel(w->word, 1);
	return 0;
}

/* --- the waiting threads ------------------------------------------- */

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

/* The caller is the first to wait. Earlier signals are not for it. */
static void begin_cond(struct wefti_watch *w)
{
	const struct wefti_watch_cond *c = (const void *)w->word;

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
	if (w && w->users == 0 && kind == WEFTI_WATCH_COND)
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
	/* If no watcher could be created, its wake-up of all may have come too early. */
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

/* --- the wakers ---------------------------------------------------- */

int wefti_watch_wake(const _Atomic uint32_t *word)
{
	struct wefti_hold h;
	struct wefti_watch *w;
	int woken = 0;

	if (load_seq_cst(&table.limit) == 0)
		return 0;
	h = wefti_watch_enter();
	w = find(word);
	if (w && w->kind != WEFTI_WATCH_COND)
		wefti_watcher_note(word);
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

/* The waiting threads and the watcher are the parent's. */
void wefti_watch_forget(void)
{
	memset(table.places, 0, sizeof(table.places));
	store_seq_cst(&table.limit, 0);
	table.is_asleep = 0;
	store_seq_cst(&table.lock, 0);
	wefti_watcher_forget();
}
