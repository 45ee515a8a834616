/* SPDX-License-Identifier: MIT */
/* sync_calls.h - calls on objects that have servers, and the other callers */
#ifndef WEFT_TESTS_STALL_SYNC_CALLS_H
#define WEFT_TESTS_STALL_SYNC_CALLS_H

#include "steer.h"

#define HELPERS_MOST	3

struct sync_scene {
	struct stall_victim victim;
	unsigned flags;			/* light or not */
	struct weft_mutex mutex;	/* cond's */
	struct weft_cond cond;
	struct weft_sem sem;
	struct weft_rwlock rwlock;
	struct weft_barrier barrier;
	struct weft_once once;
	uint64_t helper[HELPERS_MOST];
	int helpers;
	_Atomic int posted, taken;	/* of sem */
	_Atomic int reading, writing;	/* in rwlock */
	_Atomic int runs;		/* of once */
};

/*
 * What is delayed while the victim is stopped, beside itself.
 *   NOBODY   nobody; who waits for the same object is woken by others
 *   ONE      the thread that it has taken out and is about to wake
 *   WAITERS  wake-ups of that object's waiters: the victim can be its server
 */
enum sync_delay { DELAYS_NOBODY, DELAYS_ONE, DELAYS_WAITERS };

struct sync_call {
	const char *name;
	enum sync_delay delay;
	/*
	 * The victim is a kernel thread that weft did not make: when its time is
	 * over it goes on itself. A green one would go on with another kernel
	 * thread, when its own is stopped.
	 */
	int is_foreign;
	void *(*helper[HELPERS_MOST])(void *scene);	/* parked before it */
	void *(*run)(void *scene);	/* the victim */
	/* A user: calls that return, of which one waits with a deadline. */
	void *(*use)(void *scene);
	/* By the steering thread: others are woken by others. May be NULL. */
	void (*go_on)(struct sync_scene *s);
	/* By the same, again and again, until all have ended. */
	void (*wake)(struct sync_scene *s);
};

extern const struct sync_call sync_calls[];
extern const size_t sync_call_count;

/* A thread that runs fn, and is parked when this returns. */
void sync_help(struct sync_scene *s, void *(*fn)(void *scene));

/* A short time from now. */
int64_t sync_soon(void);

#endif
