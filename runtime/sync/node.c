/* SPDX-License-Identifier: MIT */
/*
 * sync/node.c - a waiter's place in a queue
 *
 * Pairs
 *   P1  drop clears node_lent  ->  get reads it: the dropper has done with it
 */
#include "sync/node.h"

#include <stdlib.h>

struct wefti_node *wefti_node_get(struct wefti_thread *self)
{
	struct wefti_node *node = &self->node;

	if (unlikely(load_acquire(&self->node_lent))) {	/* P1 */
		node = aligned_alloc(CACHE_LINE, CACHE_LINE);
		if (!node)
			return NULL;
	} else {
		store_relaxed(&self->node_lent, 1);
	}
	node->thread = self;
	return node;
}

void wefti_node_drop(struct wefti_node *node)
{
	struct wefti_thread *t = node->thread;

	if (likely(node == &t->node))
		store_release(&t->node_lent, 0);	/* P1 */
	else
		free(node);
}
