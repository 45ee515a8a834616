/* SPDX-License-Identifier: MIT */
/*
 * pthread/shared/watch.c - green threads wait for words that other processes wake
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
 * Writers
 *   watch_table.bell  ring_if_unwatched
 *   watch_table.limit  free_place, take_place, wefti_watch_forget
 *   watch_table.lock  wefti_watch_forget
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
 *   I7  Each process serves each signal: it wakes as many here as there were
 *       signals since it looked last, if so many wait, the oldest first.
 *   I8  The lock at which somebody here was woken last, or the watcher sleeps,
 *       is noted for the kernel (pthread/shared/watcher.c).
 *
 * Why no wake-up is lost
 *   A waker changes the word, then asks the kernel to wake who sleeps on it. A
 *   watcher that sleeps is woken and looks; one that is awake looks before it
 *   sleeps, as the kernel compares. To wake for nothing is allowed: who is woken
 *   looks at its word.
 *
 *   All watchers are woken, not one: its process might end before it has looked,
 *   though nobody waits there any more. The kernel, and libc's threads of other
 *   processes, wake one who sleeps on a lock. If nobody here waits for it now,
 *   because the last has just timed out, the watcher passes it on. As
 *   futex_waitv() tells one of the words that were woken, not which others, it
 *   does so for each lock it slept on that nobody waits for. And when its
 *   process ends, the kernel passes it on (I8), as it does for libc's robust
 *   mutexes; so also if a thread here had been woken and has not looked yet. Of
 *   several locks that are given back in the same microseconds it does so for
 *   one.
 *
 * Turns
 *   Who gives a lock back, or signals, wakes one of its own process, without the
 *   kernel. If there is none, and each eighth time, it wakes one in each process,
 *   and libc's threads that wait there, all of them.
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
#include "pthread/shared/watch_place.h"

#include <linux/futex.h>
#include <string.h>

#include "os/call/futex.h"
#include "pthread/shared/mutex_layout.h"
#include "pthread/shared/shared.h"
#include "pthread/wait/lot.h"

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

/* I4. Not for condition variables. A lock may have a ceiling (pthread/sync/ceiling.c). */
static int owner_will_wake(enum wefti_watch_kind kind, uint32_t value)
{
	if (kind == WEFTI_WATCH_LOCK)
		return (value & ~WEFTI_CEILING_MASK) == 2;
	return (value & FUTEX_TID_MASK) && (value & FUTEX_WAITERS);
}

/* I7. Who broadcasts counts that first. */
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
	wefti_watcher_note(w->word);
	if (wefti_lot_wake(w->word, 1, WEFTI_LOT_ANY) != 0)
		w->is_out = 1;
	else
		wefti_shared_wake_kernel(w->word, 1);
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

/* What was signalled before is not for the caller, who is the first. */
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

/* Those who wait are the parent's, and so is the watcher. */
void wefti_watch_forget(void)
{
	memset(table.places, 0, sizeof(table.places));
	store_seq_cst(&table.limit, 0);
	table.is_asleep = 0;
	store_seq_cst(&table.lock, 0);
	wefti_watcher_forget();
}
