/* SPDX-License-Identifier: MIT */
/* plan9/plan9.h - what the files of libweft-plan9 share */
#ifndef WEFT_PLAN9_PLAN9_H
#define WEFT_PLAN9_PLAN9_H

#define WEFT_PLAN9_NO_NAMES
#include <weft.h>
#include <weft/plan9.h>

/*
 * A proc is a turn: among its threads, the holder of the turn runs. The mutex is
 * strict, so that the turn goes to the thread that has waited longest.
 */
struct plan9_proc {
	struct weft_mutex turn;
	_Atomic long threads;
	int is_first;			/* threadmain's */
	void *data;
};

struct plan9_thread {
	struct plan9_proc *proc;
	void (*fn)(void *arg);
	void *arg, *data;
	int id;
	int pinned;		/* keeps the turn while it waits */
	char name[WEFT_NAME_MAX];
	char error[128];	/* of werrstr() */
};

struct plan9_thread *plan9_self(void);
struct plan9_thread *plan9_find_self(void);	/* NULL: of another's */

/*
 * Called around each call that can wait: others of the proc run, unless the thread is
 * pinned.
 */
void plan9_give_turn(void);
void plan9_take_turn(void);

/* Returns n, or -1: not all of it was written. */
int plan9_write_all(int fd, const char *text, long n);

struct weft_chan *plan9_chan_of(const struct weft_plan9_channel *c);

/*
 * For errors after which nothing can go on: prints "weft-plan9: what: why", and ends
 * the process.
 */
void plan9_fatal(const char *what, int error) __attribute__((noreturn));

static inline void plan9_must(int error, const char *what)
{
	if (error)
		plan9_fatal(what, error);
}

#endif
