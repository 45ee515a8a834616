/* SPDX-License-Identifier: MIT */
/* io/side.h - who waits for one direction of a descriptor */
#ifndef WEFT_IO_SIDE_H
#define WEFT_IO_SIDE_H

#include "sync/waitlist.h"

/* Zero-filled: no thread waits. */
struct wefti_side {
	_Atomic uint32_t edges;		/* how often it became ready */
	uint32_t unused;
	struct wefti_waitlist list;
};

/* What a waiter whose call says EAGAIN after a wake-up tells the others. */
enum wefti_side_mode {
	WEFTI_SIDE_ALL,		/* nothing: it waits for something of its own */
	WEFTI_SIDE_ONE,		/* that they would find the same */
};

/*
 * It has become ready. Wakes the threads that wait, but only the first of
 * those in mode ONE, who wakes the next (wefti_side_wake) when it has done.
 * Inside the runtime, as all of these.
 */
void wefti_side_post(struct wefti_side *side);
void wefti_side_wake(struct wefti_side *side);

/* To be had before the call is tried that may say EAGAIN. */
static inline uint32_t wefti_side_edges(struct wefti_side *side)
{
	return load_seq_cst(&side->edges);	/* P1 of side.c */
}

/*
 * By self, whose wait has begun (seq): queues node. A post ends the wait of that
 * ticket as WOKEN; so does this call if there was one since `edges` was had.
 */
void wefti_side_join(struct wefti_side *side, struct wefti_node *node,
		     struct wefti_thread *self, uint64_t seq, uint32_t edges,
		     enum wefti_side_mode mode);

/*
 * After that wait, however it ended. The node is not the caller's any more. May
 * park for another's update of the list, never for the descriptor.
 */
void wefti_side_part(struct wefti_side *side, struct wefti_node *node,
		     struct wefti_thread *self);

/* Does any thread wait here? A look, no promise. */
static inline int wefti_side_has_waiters(const struct wefti_side *side)
{
	return (load_seq_cst(&side->list.word) & WEFTI_LIST_QUEUED) != 0;
}

#endif
