/* SPDX-License-Identifier: MIT */
/* life/pool.h - dead threads with their stacks and TLS, to be spawned again */
#ifndef WEFT_LIFE_POOL_H
#define WEFT_LIFE_POOL_H

#include "sched/vcpu.h"

/*
 * A thread with a stack of the class and, unless light, TLS of its own, from
 * v's pool, the common one, or new. On failure NULL and *error = -EAGAIN or
 * -ENOMEM.
 */
struct wefti_thread *wefti_pool_make(struct wefti_vcpu *v, int light,
				     size_t stack_bytes, int *error);

/* The dead t, which nobody refers to by its id any more. v may be NULL. */
void wefti_pool_put(struct wefti_vcpu *v, struct wefti_thread *t);

/* Everything in v's pool, and in the common one, is taken apart. */
void wefti_pool_drain(struct wefti_vcpu *v);
void wefti_pool_drain_common(void);

static inline struct wefti_thread *wefti_pool_get(struct wefti_vcpu *v,
		int light, unsigned stack_class)
{
	struct wefti_pool_list *list = &v->pool[light][stack_class];
	struct wefti_thread *t = list->top;

	if (likely(t)) {
		list->top = (struct wefti_thread *)t->node.next;
		list->count--;
	}
	return t;
}

#endif
