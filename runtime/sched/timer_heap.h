/* SPDX-License-Identifier: MIT */
/*
 * sched/timer_heap.h - a pairing heap of timers, for sched/timer_wheel.h alone
 *
 * The root has the smallest key. The children of a node are a list, through `sibling`.
 */
#ifndef WEFT_SCHED_TIMER_HEAP_H
#define WEFT_SCHED_TIMER_HEAP_H

#include "sched/timer.h"

static struct wefti_timer *wefti_timer_meld(struct wefti_timer *a,
					    struct wefti_timer *b)
{
	if (!a)
		return b;
	if (!b)
		return a;
	if (load_relaxed(&b->key) < load_relaxed(&a->key)) {
		struct wefti_timer *t = a;

		a = b;
		b = t;
	}
	b->prev = a;
	b->sibling = a->child;
	if (a->child)
		a->child->prev = b;
	a->child = b;
	a->prev = a->sibling = NULL;
	return a;
}

/* Melds a list of siblings: forward in pairs, then all of these backward. */
static struct wefti_timer *wefti_timer_meld_list(struct wefti_timer *list)
{
	struct wefti_timer *pairs = NULL, *root = NULL;

	while (list) {
		struct wefti_timer *a = list, *b = a->sibling;

		list = b ? b->sibling : NULL;
		a->sibling = a->prev = NULL;
		if (b)
			b->sibling = b->prev = NULL;
		a = wefti_timer_meld(a, b);
		a->sibling = pairs;
		pairs = a;
	}
	while (pairs) {
		struct wefti_timer *a = pairs;

		pairs = a->sibling;
		a->sibling = NULL;
		root = wefti_timer_meld(root, a);
	}
	return root;
}

/* The heap without tm, which is in it; returns its root. */
static struct wefti_timer *wefti_timer_without(struct wefti_timer *root,
					       struct wefti_timer *tm)
{
	if (tm == root)
		return wefti_timer_meld_list(tm->child);
	if (tm->prev->child == tm)
		tm->prev->child = tm->sibling;
	else
		tm->prev->sibling = tm->sibling;
	if (tm->sibling)
		tm->sibling->prev = tm->prev;
	return wefti_timer_meld(root, wefti_timer_meld_list(tm->child));
}

#endif
