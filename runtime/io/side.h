/* SPDX-License-Identifier: MIT */
/* io/side.h - the threads that wait for a descriptor, in either direction */
#ifndef WEFT_IO_SIDE_H
#define WEFT_IO_SIDE_H

#include "sync/waiters.h"

enum { WEFTI_READ_SIDE, WEFTI_WRITE_SIDE, WEFTI_SIDES };

/* What EAGAIN after a wake-up says about the other waiters' calls. */
enum wefti_side_mode {
	WEFTI_SIDE_ALL,		/* nothing: each waits for something of its own */
	WEFTI_SIDE_ONE,		/* they would get the same answer; for reading */
};

struct wefti_side {
	_Atomic uint32_t edges;		/* how often it became ready */
	uint32_t unused;
	struct wefti_waiters all;
};

/* Zero-filled: no thread waits. */
struct wefti_sides {
	struct wefti_waiters one;	/* of the read side */
	struct wefti_side side[WEFTI_SIDES];
};

/* The place of a thread's ticket from join to part; owned by the thread. */
struct wefti_place {
	struct wefti_waiters *list;	/* NULL: not joined */
	uint64_t ticket;
	uint64_t cell[2];
};

/*
 * This side has become ready. Wakes the threads that wait for it, but only the first of
 * those in mode ONE; when that thread is done it wakes the next (wefti_side_wake_next).
 * For any kernel thread inside the runtime, even one without a VCPU.
 */
void wefti_side_post(struct wefti_sides *s, int side);
void wefti_side_wake_next(struct wefti_sides *s);

/* To be read before the call is tried that may return EAGAIN. */
static inline uint32_t wefti_side_edges(struct wefti_sides *s, int side)
{
	return load_seq_cst(&s->side[side].edges);	/* P1 of side.c */
}

/*
 * Called by self; its wait (seq) has begun. A post ends the wait of that ticket as
 * WOKEN; so does this call if there was a post since `edges` was read. Mode ONE is for
 * the read side only. Returns 0, or -ENOMEM: not joined, and the wait goes on. Called
 * inside the runtime, as is part.
 */
MUST_USE int wefti_side_join(struct wefti_sides *s, int side,
			     struct wefti_place *place,
			     struct wefti_thread *self, uint64_t seq,
			     uint32_t edges, enum wefti_side_mode mode);

/* Called after that wait, however it ended. Does nothing if it has not joined. */
void wefti_side_part(struct wefti_place *place, struct wefti_thread *self);

/* Called in the child of a fork, where no thread waits any more. */
void wefti_side_forget(struct wefti_sides *s);

/* Does any thread wait in mode ONE? A hint; so is the next. */
static inline int wefti_side_next_waits(const struct wefti_sides *s)
{
	return !wefti_waiters_is_empty(&s->one);
}

static inline int wefti_side_any_waits(const struct wefti_sides *s)
{
	return wefti_side_next_waits(s) ||
	       !wefti_waiters_is_empty(&s->side[WEFTI_READ_SIDE].all) ||
	       !wefti_waiters_is_empty(&s->side[WEFTI_WRITE_SIDE].all);
}

#endif
