/* SPDX-License-Identifier: MIT */
/*
 * lockfree/fifo.h - an unbounded FIFO for any number of pushers and poppers
 *
 * A node is 16 bytes in a table that is never freed, and belongs to an item (a thread),
 * not to a queue. push takes the item's node; pop gives the item another one in
 * exchange. So push allocates nothing and cannot fail. One table serves all queues of
 * the process. lockfree/fifo.c has the algorithm and its argument.
 */
#ifndef WEFT_LOCKFREE_FIFO_H
#define WEFT_LOCKFREE_FIFO_H

#include <stdalign.h>
#include <stdint.h>

#include "base/compiler.h"
#include "lockfree/atomic.h"

#define WEFTI_FIFO_CHUNK_NODES	4096u
#define WEFTI_FIFO_CHUNKS	16384u
#define WEFTI_FIFO_NODES	(WEFTI_FIFO_CHUNK_NODES * WEFTI_FIFO_CHUNKS)

struct wefti_fifo_node {
	/* index:32 | tag:32; written by its pusher, then by one linking CAS */
	_Atomic uint64_t next;
	/* written by its pusher; a popper that has lost may read it late */
	_Atomic(void *) item;
};

struct wefti_fifo {
	/* both index:32 | tag:32; on two lines, as poppers and pushers differ */
	alignas(CACHE_LINE) _Atomic uint64_t head;
	alignas(CACHE_LINE) _Atomic uint64_t tail;
};

/* Each is written once, NULL -> chunk, by wefti_fifo_reserve(). */
extern _Atomic(struct wefti_fifo_node *)
	wefti_fifo_chunk[WEFTI_FIFO_CHUNKS];

/*
 * relaxed: the node was reserved before its index was first pushed, and a thread learns
 * an index only by an acquire of what that pusher released.
 */
static inline struct wefti_fifo_node *wefti_fifo_node(uint32_t index)
{
	return load_relaxed(&wefti_fifo_chunk[index / WEFTI_FIFO_CHUNK_NODES]) +
		index % WEFTI_FIFO_CHUNK_NODES;
}

/*
 * Makes the nodes 0 .. upto_index usable. Any kernel thread may call it, concurrently
 * too. Returns 0, or -ENOMEM (usable nodes stay usable; chunks that were made are
 * kept).
 */
MUST_USE int wefti_fifo_reserve(uint32_t upto_index);

/* Makes *q empty. *q owns the reserved node `dummy` until fini. Returns 0. */
int wefti_fifo_init(struct wefti_fifo *q, uint32_t dummy);

/* Gives back a dummy of the empty *q, which no other thread uses any more. */
uint32_t wefti_fifo_fini(struct wefti_fifo *q);

/* For any kernel thread. The reserved `node` is the caller's, and then *q's. */
void wefti_fifo_push(struct wefti_fifo *q, uint32_t node, void *item);

/*
 * For any kernel thread. Returns the oldest item, with the node that now belongs to the
 * item in *spare; or NULL if the queue is empty.
 */
void *wefti_fifo_pop(struct wefti_fifo *q, uint32_t *spare);

/* True if it was empty at some moment of the call. */
int wefti_fifo_is_empty(const struct wefti_fifo *q);

#endif
