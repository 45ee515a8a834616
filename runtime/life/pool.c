/* SPDX-License-Identifier: MIT */
/*
 * life/pool.c - dead threads with their stacks and TLS, to be spawned again
 *
 * Each VCPU has a list a kind and stack class, without atomics. What is too
 * much for one VCPU goes to the common depots; what is too much for those is
 * taken apart: its memory goes back to the system, its slot to the free ones.
 */
#include "life/pool.h"

#include <errno.h>

#include "os/tls.h"
#include "sched/sanitizer.h"
#include "sched/timer.h"
#include "thread/bare.h"

#define LOCAL_MOST	256	/* in one list of one VCPU */
#define LOCAL_MOVE	128	/* go to the depot when there are more */
#define COMMON_MOST	4096	/* in one depot; about 32 MB resident */

#define COLOURS		16	/* stack tops are spread over as many lines */

static struct {
	struct wefti_depot depot;
	_Atomic int32_t count_hint;
} common[2][WEFTI_STACK_CLASSES];

static _Atomic uint32_t *next_of(uint32_t slot)
{
	return &wefti_slot_get(slot)->depot_next;
}

/*
 * The top of the stack, from high to low: unused lines (so that the tops of
 * stacks do not all fall into the same cache sets), TLS and thread control
 * block, the cold part, frames.
 */
static int furnish(struct wefti_thread *t, const struct wefti_stack *stack,
		   int light)
{
	char *top = (char *)stack->top - t->slot % COLOURS * CACHE_LINE;
	struct wefti_cold *cold;

	if (!light) {
		struct wefti_tls tls;
		int error = wefti_tls_build(stack->low, top, 0, &tls);

		if (error)
			return error;
		t->tp = tls.tp;
		top = tls.low;
		*(struct wefti_thread **)(t->tp + wefti_self_offset()) = t;
	}
	cold = (struct wefti_cold *)((uintptr_t)(top - sizeof(*cold)) &
				     ~(uintptr_t)(CACHE_LINE - 1));
	*cold = (struct wefti_cold){ .stack = *stack };
	cold->stack_low = stack->low;
	cold->stack_bytes = (size_t)((char *)stack->top - (char *)stack->low);
	wefti_timer_init(&cold->timer, t);
	t->light = light & 1;
	t->cold = cold;
	return 0;
}

static struct wefti_thread *make_new(int light, size_t stack_bytes, int *error)
{
	struct wefti_stack stack;
	struct wefti_thread *t;

	*error = wefti_stack_alloc(stack_bytes, 4096, &stack);
	if (*error)
		return NULL;
	t = wefti_thread_bare(WEFTI_KIND_FREE, NULL);
	*error = -ENOMEM;
	if (t)
		*error = furnish(t, &stack, light);
	if (*error) {
		if (t)
			wefti_thread_bare_free(t);
		wefti_stack_free(&stack);
		return NULL;
	}
	return t;
}

/* Back to a bare slot and free memory; its timer must be out of the heap. */
static void take_apart(struct wefti_thread *t)
{
	struct wefti_stack stack = t->cold->stack;

	if (t->tp)
		wefti_tls_destroy(t->tp);
	wefti_sanitizer_drop(t);
	wefti_thread_bare_free(t);
	wefti_stack_trim(&stack);
	wefti_stack_free(&stack);
}

static void to_common(struct wefti_thread *t)
{
	unsigned class = t->cold->stack.class;
	int32_t n = fetch_add_relaxed(&common[t->light][class].count_hint, 1);

	if (n >= COMMON_MOST && wefti_timer_is_free(&t->cold->timer)) {
		fetch_sub_relaxed(&common[t->light][class].count_hint, 1);
		take_apart(t);
		return;
	}
	wefti_depot_push(&common[t->light][class].depot, t->slot,
			 &t->depot_next);
}

static struct wefti_thread *from_common(int light, unsigned class)
{
	uint32_t slot = wefti_depot_pop(&common[light][class].depot, next_of);

	if (slot == WEFTI_DEPOT_NONE)
		return NULL;
	fetch_sub_relaxed(&common[light][class].count_hint, 1);
	return wefti_slot_get(slot);
}

COLD struct wefti_thread *wefti_pool_make(struct wefti_vcpu *v, int light,
					  size_t stack_bytes, int *error)
{
	int class = wefti_stack_class(stack_bytes);
	struct wefti_thread *t;

	(void)v;
	if (class < 0) {
		*error = class;
		return NULL;
	}
	t = from_common(light, (unsigned)class);
	return t ? t : make_new(light, stack_bytes, error);
}

static void spill(struct wefti_pool_list *list, unsigned keep)
{
	while (list->count > keep) {
		struct wefti_thread *t = list->top;

		list->top = (struct wefti_thread *)t->node.next;
		list->count--;
		to_common(t);
	}
}

void wefti_pool_put(struct wefti_vcpu *v, struct wefti_thread *t)
{
	if (unlikely(!v)) {
		to_common(t);
		return;
	}

	struct wefti_pool_list *list =
		&v->pool[t->light][t->cold->stack.class];

	t->node.next = (struct wefti_node *)list->top;
	list->top = t;
	if (unlikely(++list->count > LOCAL_MOST))
		spill(list, LOCAL_MOST - LOCAL_MOVE);
}

void wefti_pool_drain(struct wefti_vcpu *v)
{
	for (int light = 0; light < 2; light++)
		for (unsigned c = 0; c < WEFTI_STACK_CLASSES; c++)
			spill(&v->pool[light][c], 0);
}

/* Timers are out of their heaps: the runtime stops. */
void wefti_pool_drain_common(void)
{
	for (int light = 0; light < 2; light++)
		for (unsigned c = 0; c < WEFTI_STACK_CLASSES; c++) {
			struct wefti_thread *t;

			while ((t = from_common(light, c)))
				take_apart(t);
		}
}
