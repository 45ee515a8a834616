/* SPDX-License-Identifier: MIT */
/* life/pool.h - what ended threads leave: structs, and bodies with stack and TLS */
#ifndef WEFT_LIFE_POOL_H
#define WEFT_LIFE_POOL_H

#include "mem/stack.h"
#include "sched/vcpu.h"
#include "thread/bare.h"

#define WEFTI_LOCAL_BODIES	512	/* in one list of one VCPU, at most */
#define WEFTI_LOCAL_SLOTS	16384

/*
 * Returns the stack class for a thread that asks for this many bytes (0: the setting),
 * or -EINVAL. A thread with TLS never gets the smallest class. In 16 KiB, a TLS block of
 * 4.5 KiB leaves 11.5 KiB. Two signals may have their frames there at once, of 3.3
 * KiB each where vector registers are large: one ends the thread's slice, and another
 * comes while it leaves.
 */
static inline int wefti_pool_stack_class(int light, size_t bytes)
{
	int class = bytes ? wefti_stack_class(bytes) :
			    (int)wefti_rt.stack_class;

	return class == 0 && !light ? 1 : class;
}

/*
 * Returns a body with a stack of the class, and with TLS unless light: from the common
 * pool, or new. Returns NULL on failure; *error is then -EAGAIN or -ENOMEM.
 */
struct wefti_cold *wefti_pool_make_body(int light, unsigned stack_class,
					int *error);

/*
 * Returns a struct from the common pool, or a new one. NULL: no memory, or there are 16
 * million.
 */
struct wefti_thread *wefti_pool_make_slot(void);

/* Moves to the common pool: one body, or all above the newest `keep`. */
void wefti_pool_put_body_common(struct wefti_cold *body);
void wefti_pool_spill_bodies(struct wefti_body_list *list, unsigned keep);
void wefti_pool_spill_slots(struct wefti_slot_list *list, unsigned keep);

/* Takes apart all that v has, or all of the common pool: the runtime stops. */
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

/* No thread runs on the body. v may be NULL. */
static inline void wefti_pool_put_body(struct wefti_vcpu *v,
				       struct wefti_cold *body)
{
	struct wefti_body_list *list;

	if (unlikely(!v)) {
		wefti_pool_put_body_common(body);
		return;
	}
	list = &v->bodies[body->tp == 0][body->stack.class];
	body->pool_next = list->top;
	list->top = body;
	if (unlikely(++list->count > WEFTI_LOCAL_BODIES))
		wefti_pool_spill_bodies(list, WEFTI_LOCAL_BODIES / 2);
}

/* No caller refers to the struct by its id. v may be NULL. */
static inline void wefti_pool_put_slot(struct wefti_vcpu *v,
				       struct wefti_thread *t)
{
	/* of node.c: P1. A lent node is linked elsewhere. */
	if (unlikely(!v) || unlikely(load_acquire(&t->node_lent))) {
		wefti_thread_bare_free(t);
		return;
	}
	t->node.next = v->slots.top;
	v->slots.top = &t->node;
	if (unlikely(++v->slots.count > WEFTI_LOCAL_SLOTS))
		wefti_pool_spill_slots(&v->slots, WEFTI_LOCAL_SLOTS / 2);
}

#endif
