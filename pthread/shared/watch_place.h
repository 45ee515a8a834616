/* SPDX-License-Identifier: MIT */
/* pthread/shared/watch_place.h - the table of pthread/shared/watch.c, for the watcher */
#ifndef WEFT_PTHREAD_SHARED_WATCH_PLACE_H
#define WEFT_PTHREAD_SHARED_WATCH_PLACE_H

#include "pthread/core/hold.h"
#include "pthread/shared/watch.h"
#include "pthread/shared/watch_words.h"

#define WEFTI_PLACES	(WEFTI_WORDS - 1)	/* and the doorbell */

/* Under the table's lock, except count. */
struct wefti_watch {
	_Atomic uint32_t *word;
	enum wefti_watch_kind kind;
	_Atomic uint32_t count;		/* in the lot */
	uint32_t users;
	uint32_t generation;		/* changes when the last user leaves */
	uint32_t turn;
	uint32_t signals, broadcasts;	/* a condition variable's: how many are served */
	uint8_t is_watched, is_out;
};

struct wefti_watch_table {
	_Atomic uint32_t lock;		/* pthread/core/hold.h */
	_Atomic uint32_t limit;		/* all used places are below it */
	int is_asleep;			/* the watcher sleeps: it has to be rung */
	_Atomic uint32_t bell;		/* a futex */
	struct wefti_watch places[WEFTI_PLACES];
};

extern struct wefti_watch_table wefti_watch_table
	__attribute__((visibility("hidden")));

static inline struct wefti_hold wefti_watch_enter(void)
{
	return wefti_hold_enter(&wefti_watch_table.lock);
}

static inline void wefti_watch_leave(struct wefti_hold h)
{
	wefti_hold_leave(&wefti_watch_table.lock, h);
}

/*
 * Called if a thread waits for the word. Wakes the threads that the word lets go on.
 * Returns 1, and the value, if the watcher is to sleep on the word.
 */
int wefti_watch_check(struct wefti_watch *w, uint32_t *value);

/* Notes a lock for the kernel: I8 in pthread/shared/watch.c. */
void wefti_watcher_note(const _Atomic uint32_t *lock);
void wefti_watcher_forget(void);

#endif
