/* SPDX-License-Identifier: MIT */
/* io/side.h - who waits for a descriptor, in either direction */
#ifndef WEFT_IO_SIDE_H
#define WEFT_IO_SIDE_H

#include "sync/waiters.h"

enum { WEFTI_READ_SIDE, WEFTI_WRITE_SIDE, WEFTI_SIDES };

/* What a waiter whose call says EAGAIN after a wake-up tells the others. */
enum wefti_side_mode {
	WEFTI_SIDE_ALL,		/* nothing: it waits for something of its own */
	WEFTI_SIDE_ONE,		/* that they would find the same; to read */
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

/* Where a thread's ticket is, from join to part; its own. */
struct wefti_place {
	struct wefti_waiters *list;	/* NULL: not joined */
	uint64_t ticket;
	uint64_t cell[2];
};

/*
 * This side has become ready. Wakes the threads that wait for it, but only the
 * first of those in mode ONE, who wakes the next (wefti_side_wake_next) when it
 * has done. Any kernel thread inside the runtime, also one without a VCPU.
 */
void wefti_side_post(struct wefti_sides *s, int side);
void wefti_side_wake_next(struct wefti_sides *s);

/* To be had before the call is tried that may say EAGAIN. */
static inline uint32_t wefti_side_edges(struct wefti_sides *s, int side)
{
	return load_seq_cst(&s->side[side].edges);	/* P1 of side.c */
}

/*
 * By self, whose wait has begun (seq). A post ends the wait of that ticket as
 * WOKEN; so does this call if there was one since `edges` was had. Mode ONE is
 * of the read side only. Returns 0, or -ENOMEM: not joined, and the wait goes on.
 * Inside the runtime, as part.
 */
MUST_USE int wefti_side_join(struct wefti_sides *s, int side,
			     struct wefti_place *place,
			     struct wefti_thread *self, uint64_t seq,
			     uint32_t edges, enum wefti_side_mode mode);

/* After that wait, however it ended. Nothing if it has not joined. */
void wefti_side_part(struct wefti_place *place, struct wefti_thread *self);

/* Nobody waits any more: the child of a fork. */
void wefti_side_forget(struct wefti_sides *s);

/* Does any thread wait in mode ONE? A look, no promise. So the next. */
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
