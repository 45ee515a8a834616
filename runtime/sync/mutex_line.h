/* SPDX-License-Identifier: MIT */
/*
 * sync/mutex_line.h - the line in front of a mutex: the threads that have arrived
 *
 * sync/mutex_line.c has the argument.
 */
#ifndef WEFT_SYNC_MUTEX_LINE_H
#define WEFT_SYNC_MUTEX_LINE_H

#include "sync/mutex.h"
#include "sync/node.h"

/* node->data in the stack = 1:1 | version:39 | slot of the next older one:24 */
#define WEFTI_LINK		(UINT64_C(1) << 63)
#define WEFTI_LINK_SLOT		UINT64_C(0xffffff)
#define WEFTI_LINK_VERSION	(~(WEFTI_LINK | WEFTI_LINK_SLOT))
#define WEFTI_LINK_VERSION_SHIFT 24

_Static_assert(WEFTI_SLOT_MOST <= 1u << 24, "a slot number fits in a link");

/*
 * Returns the word w with node pushed. The node is the caller's until the CAS from w
 * succeeds. The version is its home's count of waits: for a thread, the count in the
 * ticket by which it waits; for a spare struct, the number of its loans.
 */
static inline uint64_t wefti_line_pushed(uint64_t w, struct wefti_node *node)
{
	struct wefti_thread *home = wefti_node_home(node);
	uint64_t version = load_relaxed(&home->wait) >> WEFTI_WAIT_SEQ_SHIFT;

	store_release(&node->data, WEFTI_LINK |	/* of mutex_line.c: P2 */
		      (version << WEFTI_LINK_VERSION_SHIFT &
		       WEFTI_LINK_VERSION) | w >> WEFTI_MUTEX_TOP_SHIFT);
	return (w & WEFTI_MUTEX_FLAGS) |
	       (uint64_t)home->slot << WEFTI_MUTEX_TOP_SHIFT;
}

static inline uint32_t wefti_line_top(uint64_t w)
{
	return (uint32_t)(w >> WEFTI_MUTEX_TOP_SHIFT);
}

static inline uint32_t wefti_line_older(uint64_t link)
{
	return (uint32_t)(link & WEFTI_LINK_SLOT);
}

/*
 * Links the nodes of the stack by next, oldest first. Each use has its own copy, as for
 * each waiter there is a load that depends on the one before. Most nodes are in one
 * chunk of structs: then there is no other load, and little else, between one link and
 * the next.
 */
static ALWAYS_INLINE struct wefti_node *wefti_line_reverse(uint32_t slot,
							   int swept,
							   int stamped)
{
	struct wefti_node *oldest = NULL;
	struct wefti_thread *chunk = NULL;
	uint32_t number = UINT32_MAX;	/* of chunk */

	while (slot) {
		if (unlikely(slot / WEFTI_DENSE_CHUNK != number)) {
			number = slot / WEFTI_DENSE_CHUNK;
			chunk = wefti_slot_get(slot) - slot % WEFTI_DENSE_CHUNK;
		}

		struct wefti_node *node = &chunk[slot % WEFTI_DENSE_CHUNK].node;
		uint64_t stamp = stamped ? node->stamp : 0, link;

		if (swept)
			link = xchg_relaxed(&node->data, stamp);
						/* mutex_line.c: I4 */
		else
			link = load_relaxed(&node->data);
		if (stamped && !swept)
			store_relaxed(&node->data, stamp);
		node->next = oldest;
		oldest = node;
		slot = wefti_line_older(link);
	}
	return oldest;
}

/*
 * The owner takes all nodes that have arrived. Returns them linked by next, oldest
 * first, with their stamps in data; NULL if there is none.
 */
struct wefti_node *wefti_line_take(struct wefti_mutex *m);

/*
 * The same for a strict mutex, inline. Also returns NULL if it would take more than one
 * CAS.
 */
static ALWAYS_INLINE struct wefti_node *wefti_line_take_strict(
		struct wefti_mutex *m)
{
	uint64_t w = load_relaxed(&m->word);

	if (unlikely(w & WEFTI_MUTEX_SWEEP) || unlikely(!wefti_line_top(w)))
		return NULL;
	/* of mutex_line.c: P1; of mutex.c: P2 */
	if (unlikely(!cas_acquire(&m->word, &w, w & WEFTI_MUTEX_FLAGS)))
		return NULL;
	return wefti_line_reverse(wefti_line_top(w), 0, 0);
}

/*
 * Called after a time-out: the thread gives up its place and does not touch the node
 * again. The node may still be in the line, which is swept now and then. The caller
 * must know that the mutex still exists.
 */
void wefti_line_leave(struct wefti_mutex *m, struct wefti_node *node);

/* Called in the child of a fork, with what another thread's body has noted. */
void wefti_line_after_fork(void *sweeps);

#endif
