/* SPDX-License-Identifier: MIT */
/* observe/cycle.h - threads that wait for each other, found while others run */
#ifndef WEFT_OBSERVE_CYCLE_H
#define WEFT_OBSERVE_CYCLE_H

#include "observe/view.h"

#define WEFTI_CYCLE_MOST	64	/* the longest that is found */

/* A thread's wait for something that another thread owns, or for its end. */
struct wefti_edge {
	struct wefti_thread *from;
	uint64_t id;		/* from's */
	uint64_t wait;		/* its wait word: which episode */
	enum wefti_why why;
	const void *object;
	struct wefti_thread *to;
};

/* The edge of a thread that was seen so. Returns 0: it waits for no thread that is known. */
int wefti_edge_of(const struct wefti_view *view, struct wefti_edge *e);

/*
 * Is the thread in a cycle? Then the edges are put into e, the thread's own first, and
 * their number is returned; else 0. All threads of the cycle were parked at one moment,
 * each for what the next one had, and none of them could go on then by itself. A wait may
 * still end by its deadline, or by a cancellation.
 */
unsigned wefti_cycle_of(const struct wefti_thread *t, struct wefti_edge e[WEFTI_CYCLE_MOST]);

/*
 * The same for a walk over all threads, which is to find each cycle once: only for the
 * thread with the lowest slot in the cycle. Costs a thread little that is in none. Adds
 * the steps that were needed to *steps.
 */
unsigned wefti_cycle_from(struct wefti_thread *t, struct wefti_edge e[WEFTI_CYCLE_MOST],
			  unsigned *steps);

/* Ends one of the waits by its deadline at the latest? */
int wefti_cycle_is_timed(const struct wefti_edge *e, unsigned n);

/* Is it a wait of the kind that can be for a thread? */
static inline int wefti_why_has_owner(unsigned why)
{
	return why == WEFTI_WHY_JOIN || why == WEFTI_WHY_MUTEX || why == WEFTI_WHY_ONCE ||
	       why == WEFTI_WHY_READ_LOCK || why == WEFTI_WHY_WRITE_LOCK;
}

#endif
