/* SPDX-License-Identifier: MIT */
/*
 * pthread/shared/watcher.c - a kernel thread that sleeps on the words of parked threads
 *
 * The head of pthread/shared/watch.c says what the watcher does, and why.
 *
 * Structure
 *   state    whether there is a watcher
 *   words    what futex_waitv() sleeps on: the doorbell first, and then a word for each
 *            WATCHED place
 *   slept_on the place of each such word, as it was then
 *   noted    a robust list without mutexes
 *
 * When a kernel thread ends, for whatever reason, the kernel looks at the one word that
 * its robust list notes as being changed. If that word is 0, a free lock, the kernel
 * wakes one more sleeper on it. The watcher ends when the process does.
 *
 * States
 *   NONE     no thread has needed a watcher yet
 *   WANTED   the receiver of signals is to make it
 *   RUNS     the receiver makes it, or it is there
 *   REFUSED  the kernel has refused it: all threads wait in the kernel themselves
 *
 *   NONE --a thread that is going to wait--> WANTED --the receiver--> RUNS
 *   RUNS --no kernel thread, or no more futex_waitv()--> REFUSED
 *   any --child of a fork--> NONE
 *
 * Writers
 *   noted.list_op_pending  wefti_watcher_note
 *   state  refuse, wefti_watcher_make, wefti_watcher_forget, wefti_watcher_runs
 *
 * Invariants (those of the table: pthread/shared/watch.c)
 *   I1  words and slept_on are the watcher's alone, and slept_on[i] belongs to word i + 1.
 *   I2  Between the lock and the sleep the kernel compares each word with the value that was
 *       read under the lock. So no change in between is missed.
 *   I3  REFUSED is set before all threads are woken. A thread that queues after that wake-up
 *       sees it, and wakes all at its word (wefti_watch_queued). So no thread stays parked
 *       without a watcher.
 *
 * Linearization
 *   A round's looks: each at its load of the word, under the table's lock.
 *
 * Progress
 *   Blocking: the table's lock.
 *
 * ABA and reclamation
 *   A place that has had another user since has another generation. The watcher then passes
 *   the wake-up on. It wakes by the address alone, which may be no memory any more.
 *
 * Pairs
 *   The table's lock orders all but `state`, which is seq_cst with the lot's counts: see I3.
 *
 * Source
 *   Linux, Documentation/userspace-api/futex2.rst; robust-futex-ABI.rst, for `noted`.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "observe/dump.h"
#include "os/call/futex.h"
#include "os/kthread/kthread.h"
#include "pthread/shared/shared.h"
#include "pthread/shared/watch_place.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/lot.h"
#include "syscall.h"

#define table wefti_watch_table

enum { NONE, WANTED, RUNS, REFUSED };

static _Atomic uint32_t state;
static struct wefti_os_kthread watcher;
static struct robust_list_head noted;	/* no list: it owns nothing */

/* The words that the watcher sleeps on; only it uses them. The first is the doorbell. */
static struct wefti_words words TABLE;
static struct {
	const struct wefti_watch *place;
	int is_lock;
	uint32_t generation;
} slept_on[WEFTI_PLACES] TABLE;

/* The list's futex offset is 0. An address that is no longer mapped does no harm. */
void wefti_watcher_note(const _Atomic uint32_t *lock)
{
	store_seq_cst((_Atomic(struct robust_list *) *)(void *)
		      &noted.list_op_pending,
		      (struct robust_list *)(uintptr_t)lock);
}

/* Called after a sleep that ended because one of the words was woken. */
static void pass_on(void)
{
	for (unsigned i = 1; i < words.count; i++) {
		const struct wefti_watch *w = slept_on[i - 1].place;

		if (slept_on[i - 1].is_lock &&
		    (w->generation != slept_on[i - 1].generation ||
		     load_seq_cst(&w->count) == 0))
			wefti_shared_wake_kernel(wefti_words_get(&words, i), 1);
	}
}

static void sleep_on(struct wefti_watch *w, uint32_t value)
{
	unsigned i = words.count - 1;

	slept_on[i].place = w;
	slept_on[i].is_lock = w->kind != WEFTI_WATCH_COND;
	if (slept_on[i].is_lock)
		wefti_watcher_note(w->word);
	slept_on[i].generation = w->generation;
	wefti_words_add(&words, w->word, value, 0);
	w->is_watched = 1;
}

/* I2, I5 of watch.c */
static void go_round(void)
{
	words.count = 0;
	wefti_words_add(&words, &table.bell, load_seq_cst(&table.bell), 1);
	for (unsigned i = 0; i < load_seq_cst(&table.limit); i++) {
		struct wefti_watch *w = &table.places[i];
		uint32_t value;

		w->is_watched = 0;
		if (!w->users || w->is_out || load_seq_cst(&w->count) == 0 ||
		    !wefti_watch_check(w, &value))
			continue;
		sleep_on(w, value);
	}
	table.is_asleep = 1;
}

/* Wakes the waiting threads: they and all later ones wait in the kernel themselves. */
static void refuse(void)
{
	struct wefti_hold h;

	store_seq_cst(&state, REFUSED);
	h = wefti_watch_enter();
	for (unsigned i = 0; i < load_seq_cst(&table.limit); i++)
		if (table.places[i].users)
			wefti_lot_wake(table.places[i].word, UINT32_MAX,
				       WEFTI_LOT_ANY);
	wefti_watch_leave(h);
}

static void watcher_main(void *unused)
{
	int woken = 0;		/* -1: it cannot sleep any more */

	(void)unused;
	noted.list.next = &noted.list;
	(void)wefti_arch_syscall(SYS_set_robust_list, (long)&noted,
				 sizeof(noted), 0, 0, 0, 0);
	while (woken >= 0) {
		struct wefti_hold h = wefti_watch_enter();

		table.is_asleep = 0;
		if (woken)
			pass_on();
		go_round();
		wefti_watch_leave(h);
		woken = wefti_words_sleep(&words);
	}
	refuse();	/* a filter was installed later */
}

void wefti_watcher_make(void)
{
	if (load_seq_cst(&state) != WANTED)
		return;
	store_seq_cst(&state, RUNS);
	if (wefti_os_kthread_create(&watcher, 64 * 1024, watcher_main, NULL,
				    "weft-watcher") == 0)
		wefti_os_kthread_detach(&watcher);
	else
		refuse();
}

/* A green thread cannot create it: libc copies from the creating kernel thread's TLS. */
int wefti_watcher_runs(void)
{
	uint32_t s = load_seq_cst(&state);

	if (likely(s != NONE))
		return s != REFUSED;
	if (!wefti_words_can_sleep())
		return 0;
	if (cas_seq_cst(&state, &s, WANTED))
		wefti_signals_wake_receiver();
	return 1;
}

void wefti_watcher_forget(void)
{
	store_seq_cst(&state, NONE);
}
