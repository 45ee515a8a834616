/* SPDX-License-Identifier: MIT */
/*
 * sync/node.h - a waiter's place in a queue
 *
 * A thread uses the node in its own struct. When its wait times out, the node
 * stays in the queue until an owner of the queue meets it: it is lent.
 * Meanwhile the thread waits with the nodes of spare structs, which like all
 * of them are type-stable and named by a slot number.
 *
 * States of a node (node_lent of the struct it lies in)
 *   FREE     in no queue
 *   LENT     in a queue; its thread waits, or has timed out and not said so
 *   OUT      taken out by the queue; its thread had timed out, and may not know
 *   GONE     the thread has left; who takes the node out gives it back
 *   ASKED    the thread waits until the node is out
 *   COUNTED  (barrier) OUT, and its thread had arrived for all that
 *
 *   FREE --get--> LENT --wefti_node_let_out--> OUT, COUNTED --drop--> FREE
 *   LENT --wefti_node_leave--> GONE --wefti_node_let_out--> FREE
 *   LENT --wefti_node_ask--> ASKED --wefti_node_let_out--> OUT, COUNTED
 *   LENT --drop, by who knows that no other will--> FREE
 */
#ifndef WEFT_SYNC_NODE_H
#define WEFT_SYNC_NODE_H

#include "base/compiler.h"
#include "thread/thread.h"

enum wefti_node_state {
	WEFTI_NODE_FREE,
	WEFTI_NODE_LENT,
	WEFTI_NODE_OUT,
	WEFTI_NODE_GONE,
	WEFTI_NODE_ASKED,
	WEFTI_NODE_COUNTED,
};

/* The struct that the node lies in; its thread's own, or a spare one. */
static inline struct wefti_thread *wefti_node_home(struct wefti_node *node)
{
	return container_of(node, struct wefti_thread, node);
}

struct wefti_node *wefti_node_get_spare(struct wefti_thread *self);
void wefti_node_drop_spare(struct wefti_node *node);

/*
 * The queue has taken out a node whose wait was over. how: OUT or COUNTED. The
 * node is not the caller's any more.
 */
void wefti_node_let_out(struct wefti_node *node, enum wefti_node_state how);

/*
 * The thread will not come back for the node. Returns LENT when it stays in the
 * queue, else how it was let out; the node has been dropped then.
 */
enum wefti_node_state wefti_node_leave(struct wefti_node *node);

/*
 * The thread, which has begun another wait for this, asks to be woken when the
 * node is let out. Returns LENT when it will be, else how it was let out.
 */
enum wefti_node_state wefti_node_ask(struct wefti_node *node);

static inline int wefti_node_is_free(const struct wefti_thread *self)
{
	return load_acquire(&self->node_lent) ==	/* P1 of node.c */
	       WEFTI_NODE_FREE;
}

/* A thread's own node: FREE -> LENT, and back. */
static inline void wefti_node_lend(struct wefti_thread *self)
{
	store_relaxed(&self->node_lent, (uint8_t)WEFTI_NODE_LENT);
	self->node.thread = self;
}

static inline void wefti_node_take_back(struct wefti_thread *self)
{
	store_release(&self->node_lent,		/* P1 of node.c */
		      (uint8_t)WEFTI_NODE_FREE);
}

/* A node for self's next wait; NULL: no memory for a spare one. */
static inline struct wefti_node *wefti_node_get(struct wefti_thread *self)
{
	if (unlikely(!wefti_node_is_free(self)))
		return wefti_node_get_spare(self);
	wefti_node_lend(self);
	return &self->node;
}

/* The node is in no queue. Any thread may call it. */
static inline void wefti_node_drop(struct wefti_node *node)
{
	struct wefti_thread *home = wefti_node_home(node);

	if (unlikely(home != node->thread))
		wefti_node_drop_spare(node);
	else
		wefti_node_take_back(home);
}

/* For the node's thread: LENT, OUT or COUNTED. */
static inline enum wefti_node_state wefti_node_state(struct wefti_node *node)
{
	/* P2 of node.c */
	return (enum wefti_node_state)
		load_acquire(&wefti_node_home(node)->node_lent);
}

#endif
