/* SPDX-License-Identifier: MIT */
/*
 * sync/waitlist.h - the threads that wait for an object, and the server that wakes them
 *
 * waitlist.c has the algorithm, its invariants and its argument. An object that uses it
 * does the following:
 *
 *   As long as no thread waits, the object keeps its own state in the word (QUEUED is
 *   clear: OWN flags and count are the object's). While threads wait, it keeps the
 *   state in fields of its own, which belong to the server.
 *   A thread that has to wait pushes its node, by one CAS, and parks.
 *   A thread that wakes others becomes the server, or leaves its request in the word's
 *   count for the present server.
 */
#ifndef WEFT_SYNC_WAITLIST_H
#define WEFT_SYNC_WAITLIST_H

#include "mem/slot.h"
#include "sync/node.h"
#include "thread/wait.h"

/* word = 0:1 | count:31 | top:24 | OWN:4 | DIRTY | MANY | QUEUED | BUSY */
#define WEFTI_LIST_BUSY		UINT64_C(1)	/* a thread is the server */
#define WEFTI_LIST_QUEUED	UINT64_C(2)	/* threads wait, or BUSY */
#define WEFTI_LIST_MANY		UINT64_C(4)	/* without BUSY: more than the top
						 * waits */
#define WEFTI_LIST_DIRTY	UINT64_C(8)	/* with BUSY: a wait timed out */
#define WEFTI_LIST_OWN		UINT64_C(0xf0)	/* the object's, by its kind: */
#define WEFTI_LIST_WRITER	UINT64_C(0x10)	/* rwlock: a writer has it */
#define WEFTI_LIST_DONE		UINT64_C(0x10)	/* once: the function has been run */
#define WEFTI_LIST_RUNNING	UINT64_C(0x20)	/* once: a thread runs it */
#define WEFTI_LIST_TOP		UINT64_C(0xffffff00)
#define WEFTI_LIST_TOP_SHIFT	8
#define WEFTI_LIST_ONE		(UINT64_C(1) << 32)
#define WEFTI_LIST_COUNT_MAX	UINT32_C(0x7fffffff)
#define WEFTI_LIST_COUNT	((uint64_t)WEFTI_LIST_COUNT_MAX << 32)

_Static_assert(WEFTI_SLOT_MOST <= 1u << 24, "a slot number fits in top");

/* Zero-filled is empty. 24 bytes, so that the public objects are small. */
struct wefti_waitlist {
	_Atomic uint64_t word;
	uint32_t head, tail;	/* slots of the list's nodes; the server's */
	uint32_t length;	/* of the list; the server's */
	uint32_t stale;		/* timed out since the last sweep; the server's */
};

/* The beginning of an object that one thread can own. For dumps. */
struct wefti_owned_list {
	struct wefti_waitlist list;
	_Atomic(struct wefti_thread *) owner;
};

struct wefti_service;

struct wefti_waitlist_ops {
	/*
	 * A thread has come to wait: append it, or deal with it in another way. Called
	 * for each, in the order of their pushes.
	 */
	void (*arrive)(struct wefti_service *s, struct wefti_node *node);
	/* n requests came at this point of the order. n is 0: only look again. */
	void (*request)(struct wefti_service *s, uint32_t n);
	/* What the word shall be: all of it without waiters, else OWN and count. */
	uint64_t (*rest)(struct wefti_service *s);
	/* Wakes node's thread. The server has left, and the object may be gone. */
	void (*wake)(struct wefti_service *s, struct wefti_node *node);
};

/* What a server needs while it serves; on its stack. */
struct wefti_service {
	struct wefti_waitlist *list;
	const struct wefti_waitlist_ops *ops;
	struct wefti_node *woken, *woken_last;	/* kept; woken when it has left */
	uint64_t own;		/* OWN flags of the word when it was last taken */
	uint64_t value;		/* the object's, while it is served */
	void *context;		/* the object's, the same */
};

static inline uint32_t wefti_waitlist_count(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

static inline struct wefti_node *wefti_waitlist_node(uint32_t slot)
{
	return slot ? &wefti_slot_get(slot)->node : NULL;
}

static inline struct wefti_node *wefti_waitlist_top(uint64_t word)
{
	return wefti_waitlist_node((uint32_t)word >> WEFTI_LIST_TOP_SHIFT);
}

static inline uint64_t wefti_waitlist_as_top(struct wefti_node *node)
{
	return (uint64_t)wefti_node_home(node)->slot << WEFTI_LIST_TOP_SHIFT;
}

/*
 * Returns the word w with node pushed. Requests that were left before it move from the
 * word to the node, so that the server sees them in order. low: 32 bits for the object,
 * which arrive() finds in node->data. The caller makes the CAS from w, with release
 * (P1).
 */
static inline uint64_t wefti_waitlist_pushed(uint64_t w,
		struct wefti_node *node, uint32_t low)
{
	uint64_t many = w & WEFTI_LIST_QUEUED ? WEFTI_LIST_MANY : 0;

	node->next = wefti_waitlist_top(w);
	store_relaxed(&node->data, (w & WEFTI_LIST_COUNT) | low);
	return (w & (WEFTI_LIST_BUSY | WEFTI_LIST_DIRTY | WEFTI_LIST_OWN)) |
	       WEFTI_LIST_QUEUED | many | wefti_waitlist_as_top(node);
}

/* Exactly one thread waits, the top. The thread that clears the word gets its node. */
static inline int wefti_waitlist_is_single(uint64_t w)
{
	return (w & (WEFTI_LIST_QUEUED | WEFTI_LIST_BUSY | WEFTI_LIST_MANY)) ==
	       WEFTI_LIST_QUEUED;
}

/* What the word becomes when the server takes everything out of it. */
static inline uint64_t wefti_waitlist_taken(uint64_t w)
{
	return (w & WEFTI_LIST_OWN) | WEFTI_LIST_QUEUED | WEFTI_LIST_BUSY;
}

/*
 * The caller has set BUSY by a CAS (acquire, P1 and P2) from w, without BUSY, to
 * wefti_waitlist_taken(w). Does what w held, with DIRTY and counts that the caller
 * added for itself, and all that is left meanwhile; then leaves. Called inside the
 * runtime.
 */
void wefti_waitlist_serve(struct wefti_waitlist *list, uint64_t w,
		const struct wefti_waitlist_ops *ops);

/*
 * Called after the wait of self with node timed out or was cancelled. The caller must
 * know that the object still exists. The node is taken out of the list now or later,
 * and is not the caller's any more. May park, if another thread is the server and self
 * has left a node in a list before. Called inside the runtime.
 */
void wefti_waitlist_withdraw(struct wefti_waitlist *list,
		struct wefti_node *node, struct wefti_thread *self,
		const struct wefti_waitlist_ops *ops);

/*
 * The same, but when it returns the node is out, and the caller's. Returns how: OUT or
 * COUNTED. May park, if another thread is the server.
 */
enum wefti_node_state wefti_waitlist_take_back(struct wefti_waitlist *list,
		struct wefti_node *node, struct wefti_thread *self,
		const struct wefti_waitlist_ops *ops);

/* Called in the child of a fork, with what another thread's body has noted. */
void wefti_waitlist_after_fork(const void *serves);

/* For the server: appends to its list. */

void wefti_waitlist_append(struct wefti_service *s, struct wefti_node *node);

/*
 * The oldest waiter whose wait is not over, as far as known; NULL if none. Does not
 * take it.
 */
struct wefti_node *wefti_waitlist_head(struct wefti_service *s);

/* Takes the oldest out, whether its wait is over or not; NULL if there is none. */
struct wefti_node *wefti_waitlist_pop(struct wefti_service *s);

/*
 * Decides that node, which is in no list, is woken: returns 1, and wake() will be
 * called. Returns 0 if its wait was over; the node is still the caller's.
 */
int wefti_waitlist_keep(struct wefti_service *s, struct wefti_node *node);

/* Makes the server call wake() for node, which is in no list, after it has left. */
void wefti_waitlist_wake_later(struct wefti_service *s,
			       struct wefti_node *node);

/* Pops until one waiter is kept, and lets the others out. NULL if none was left. */
struct wefti_node *wefti_waitlist_wake_oldest(struct wefti_service *s);

/* Lets out all waiters whose wait is over. */
void wefti_waitlist_sweep(struct wefti_service *s);

#endif
