/* SPDX-License-Identifier: MIT */
/* life/pool.h - what dead threads leave: structs, and bodies with stack and TLS */
#ifndef WEFT_LIFE_POOL_H
#define WEFT_LIFE_POOL_H

#include "sched/vcpu.h"

/*
 * A body with a stack of the class, and with TLS unless light: of the common
 * pool, or new. NULL: *error is -EAGAIN or -ENOMEM.
 */
struct wefti_cold *wefti_pool_make_body(int light, size_t stack_bytes,
					int *error);

/* A struct, of the common pool or new. NULL: no memory, or 16 million. */
struct wefti_thread *wefti_pool_make_slot(void);

/* Nobody runs on the body, nobody refers to the struct. v may be NULL. */
void wefti_pool_put_body(struct wefti_vcpu *v, struct wefti_cold *body);
void wefti_pool_put_slot(struct wefti_vcpu *v, struct wefti_thread *t);

/* All that v has, and the common pool, is taken apart: the runtime stops. */
void wefti_pool_drain(struct wefti_vcpu *v);
void wefti_pool_drain_common(void);

static inline struct wefti_cold *wefti_pool_get_body(struct wefti_vcpu *v,
		int light, unsigned stack_class)
{
	struct wefti_body_list *list = &v->bodies[light][stack_class];
	struct wefti_cold *body = list->top;

	if (likely(body)) {
		list->top = body->pool_next;
		list->count--;
	}
	return body;
}

static inline struct wefti_thread *wefti_pool_get_slot(struct wefti_vcpu *v)
{
	struct wefti_node *node = v->slots.top;

	if (unlikely(!node))
		return NULL;
	v->slots.top = node->next;
	v->slots.count--;
	return container_of(node, struct wefti_thread, node);
}

#endif
