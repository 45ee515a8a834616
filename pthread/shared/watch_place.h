/* SPDX-License-Identifier: MIT */
/* pthread/shared/watch_place.h - the table of pthread/shared/watch.c, for the watcher */
#ifndef WEFT_PTHREAD_SHARED_WATCH_PLACE_H
#define WEFT_PTHREAD_SHARED_WATCH_PLACE_H

#include "pthread/core/hold.h"
#include "pthread/shared/watch.h"
#include "pthread/shared/watch_words.h"

#define WEFTI_PLACES	(WEFTI_WORDS - 1)	/* and the doorbell */

/* Under the table's lock, but for count. */
struct wefti_watch {
	_Atomic uint32_t *word;
	enum wefti_watch_kind kind;
	_Atomic uint32_t count;		/* in the lot */
	uint32_t users;
	uint32_t generation;		/* of the users: a word's */
	uint32_t turn;
	uint32_t signals, broadcasts;	/* of a condition variable: served */
	uint8_t is_watched, is_out;
};

struct wefti_watch_table {
	_Atomic uint32_t lock;		/* pthread/core/hold.h */
	_Atomic uint32_t limit;		/* all that are used are below */
	int is_asleep;			/* the watcher: a ring is needed */
	_Atomic uint32_t bell;		/* a futex */
	struct wefti_watch places[WEFTI_PLACES];
};

extern struct wefti_watch_table wefti_watch_table
	__attribute__((visibility("hidden")));

static inline struct wefti_hold wefti_watch_enter(void)
{
	struct wefti_hold h = wefti_hold_begin();

	wefti_hold_lock(&wefti_watch_table.lock);
	return h;
}

static inline void wefti_watch_leave(struct wefti_hold h)
{
	wefti_hold_unlock(&wefti_watch_table.lock);
	wefti_hold_end(h);
}

/*
 * Wakes whom the word lets go on; somebody waits for it. Returns 1, and the
 * value, if the watcher is to sleep on it.
 */
int wefti_watch_look_at(struct wefti_watch *w, uint32_t *value);

/* pthread/shared/watch.c: I8. */
void wefti_watcher_note(const _Atomic uint32_t *lock);
void wefti_watcher_forget(void);

#endif
