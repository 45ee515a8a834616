/* SPDX-License-Identifier: MIT */
/*
 * sync/node.h - a waiter's place in a queue
 *
 * A thread uses the node in its own struct. When its wait times out, the node
 * stays in the queue until an owner of the queue meets it: it is lent. Meanwhile
 * the thread waits with nodes from the heap. Whoever takes a node out of a
 * queue gives it back by wefti_node_drop(), unless its wait went well and the
 * thread itself knows.
 */
#ifndef WEFT_SYNC_NODE_H
#define WEFT_SYNC_NODE_H

#include "thread/thread.h"

/* A node for self's next wait; NULL: no memory for one from the heap. */
struct wefti_node *wefti_node_get(struct wefti_thread *self);

/* The node is in no queue. Any thread may call it. */
void wefti_node_drop(struct wefti_node *node);

#endif
