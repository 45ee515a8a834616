/* SPDX-License-Identifier: MIT */
/*
 * sync/node.h - a waiter's place in a queue
 *
 * A thread uses the node in its own struct. If its wait times out, the node stays in
 * the queue until an owner of the queue meets it: it is lent. Meanwhile the thread
 * waits with nodes of spare structs. These are type-stable and named by a slot number,
 * like all thread structs.
 *
 * States of a node (node_lent of the struct it lies in)
 *   FREE     in no queue
 *   LENT     in a queue; its thread waits, or has timed out and not reported it
 *   OUT      taken out by the queue; its thread had timed out, and may not know it yet
 *   GONE     the thread has left; whoever takes the node out gives it back
 *   ASKED    the thread waits until the node is out
 *   COUNTED  (barrier) OUT, but its thread had arrived
 *
 *   FREE --get--> LENT --wefti_node_let_out--> OUT, COUNTED --drop--> FREE
 *   LENT --wefti_node_leave--> GONE --wefti_node_let_out--> FREE
 *   LENT --wefti_node_ask--> ASKED --wefti_node_let_out--> OUT, COUNTED
 *   LENT --drop, by a thread that knows that no other will--> FREE
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

/* The struct in which the node lies: its thread's own, or a spare one. */
static inline struct wefti_thread *wefti_node_home(struct wefti_node *node)
{
	return container_of(node, struct wefti_thread, node);
}

struct wefti_node *wefti_node_get_spare(struct wefti_thread *self);
void wefti_node_drop_spare(struct wefti_node *node);

/*
 * Called by the queue, which has taken out a node whose wait was over. how: OUT or
 * COUNTED. The node is not the caller's any more.
 */
void wefti_node_let_out(struct wefti_node *node, enum wefti_node_state how);

/*
 * Called by the thread, which will not come back for the node. Returns LENT if the node
 * stays in the queue; else how it was let out, and the node has been dropped.
 */
enum wefti_node_state wefti_node_leave(struct wefti_node *node);

/*
 * Called by the thread, which has begun another wait for this: asks to be woken when
 * the node is let out. Returns LENT if it will be woken, else how the node was let out.
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

/* Returns a node for self's next wait; NULL if there is no memory for a spare one. */
static inline struct wefti_node *wefti_node_get(struct wefti_thread *self)
{
	if (unlikely(!wefti_node_is_free(self)))
		return wefti_node_get_spare(self);
	wefti_node_lend(self);
	return &self->node;
}

/* Gives back a node that is in no queue. Any thread may call it. */
static inline void wefti_node_drop(struct wefti_node *node)
{
	struct wefti_thread *home = wefti_node_home(node);

	if (unlikely(home != node->thread))
		wefti_node_drop_spare(node);
	else
		wefti_node_take_back(home);
}

/* Called by the node's thread. Returns LENT, OUT or COUNTED. */
static inline enum wefti_node_state wefti_node_state(struct wefti_node *node)
{
	/* P2 of node.c */
	return (enum wefti_node_state)
		load_acquire(&wefti_node_home(node)->node_lent);
}

#endif
