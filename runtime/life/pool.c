/* SPDX-License-Identifier: MIT */
/*
 * life/pool.c - what ended threads leave: structs, and bodies with stack and TLS
 *
 * A thread gives its body back when it ends, and its struct when it is joined. So a
 * thousand threads that end one after the other, and wait to be joined, use one stack,
 * which is warm.
 *
 * Each VCPU has lists without atomics. Structs and bodies for which a VCPU has no room go
 * to the common pool. A body for which that has no room is taken apart, and its memory
 * returned to the system. The stacks of some dozens of such bodies end together, as one
 * call for each would take longer than all else at a thread's end.
 *
 * Writers
 *   runtime.threads_peak  wefti_pool_make_slot; init/start.c: reset
 *   common.count_hint  from_common, to_common
 */
#include "life/pool.h"

#include <errno.h>

#include "life/life.h"
#include "mem/stack_trim.h"
#include "os/tls/tls.h"
#include "sched/sanitizer.h"
#include "sched/timer.h"
#include "thread/bare.h"

#define COMMON_BODIES	4096	/* of one kind; some 32 MB resident */

#define WRECK_MOST	64	/* stacks that end together */

#define COLOURS		15	/* stack tops are spread over this many lines */

/* Depots over the table of stacks: a body is found by the index of its stack. */
static struct {
	struct wefti_depot depot;
	_Atomic int32_t count_hint;
} common[2][WEFTI_STACK_CLASSES];

/* The highest word of a stack points to its body. */
static struct wefti_cold **body_of(void *top)
{
	return (struct wefti_cold **)top - 1;
}

/*
 * Builds a body. From high to low: that word, unused lines (so that the tops of stacks
 * do not all fall into the same cache sets), thread control block and TLS, cold part,
 * frames.
 */
static struct wefti_cold *furnish(const struct wefti_stack *stack, int light)
{
	size_t lines = 1 + stack->index % COLOURS;
	char *top = (char *)stack->top - lines * CACHE_LINE;
	struct wefti_tls tls = { 0, top };
	struct wefti_cold *cold;

	if (!light) {
		if (wefti_tls_build(stack->low, top, &tls) != 0)
			return NULL;
		wefti_tls_trim(tls.tp);
	}
	cold = (struct wefti_cold *)(((uintptr_t)tls.low - sizeof(*cold)) &
				     ~(uintptr_t)(CACHE_LINE - 1));
	*cold = (struct wefti_cold){ .stack = *stack, .tp = tls.tp };
	cold->stack_low = stack->low;
	cold->stack_bytes = (size_t)((char *)stack->top - (char *)stack->low);
	wefti_timer_init(&cold->timer);
	*body_of(stack->top) = cold;
	return cold;
}

/* Stacks of bodies that were taken apart. They end together (mem/stack_trim.c). */
struct wreck {
	uint32_t index[WRECK_MOST];
	unsigned count;
};

static void end_stacks(struct wreck *w)
{
	wefti_stack_give_back(w->index, w->count);
	w->count = 0;
}

/* Frees what the body has, except its stack. Its timer must be out of the heap. */
static void take_apart(struct wefti_cold *body, struct wreck *w)
{
	if (body->tp)
		wefti_tls_destroy(body->tp);
	w->index[w->count++] = body->stack.index;
	if (w->count == WRECK_MOST)
		end_stacks(w);
}

static void to_common(struct wefti_cold *body, struct wreck *w)
{
	int light = body->tp == 0;
	unsigned class = body->stack.class;
	int32_t n = fetch_add_relaxed(&common[light][class].count_hint, 1);

	if (n >= COMMON_BODIES && wefti_timer_is_free(&body->timer)) {
		fetch_sub_relaxed(&common[light][class].count_hint, 1);
		take_apart(body, w);
		return;
	}
	wefti_depot_push(&common[light][class].depot, body->stack.index,
			 wefti_stack_link(body->stack.index));
}

static struct wefti_cold *from_common(int light, unsigned class)
{
	uint32_t index = wefti_depot_pop(&common[light][class].depot,
					 wefti_stack_link);

	if (index == WEFTI_DEPOT_NONE)
		return NULL;
	fetch_sub_relaxed(&common[light][class].count_hint, 1);
	return *body_of(wefti_stack_top(index));
}

COLD struct wefti_cold *wefti_pool_make_body(int light, unsigned stack_class,
					     int *error)
{
	struct wefti_stack stack;
	struct wefti_cold *body = from_common(light, stack_class);

	if (body)
		return body;
	*error = wefti_stack_alloc(WEFTI_STACK_LEAST << stack_class, 4096,
				   &stack);
	if (*error)
		return NULL;
	body = furnish(&stack, light);
	if (!body) {
		*error = -ENOMEM;
		wefti_stack_free(&stack);
	}
	return body;
}

COLD struct wefti_thread *wefti_pool_make_slot(void)
{
	uint64_t alive = wefti_threads_alive() + 1;
	uint64_t peak = load_relaxed(&wefti_rt.threads_peak);

	while (peak < alive &&
	       !cas_weak_relaxed(&wefti_rt.threads_peak, &peak, alive))
		;
	return wefti_thread_bare(WEFTI_KIND_FREE, NULL);
}

void wefti_pool_spill_bodies(struct wefti_body_list *list, unsigned keep)
{
	struct wreck w = { .count = 0 };

	while (list->count > keep) {
		struct wefti_cold *body = list->top;

		list->top = body->pool_next;
		list->count--;
		to_common(body, &w);
	}
	end_stacks(&w);
}

COLD void wefti_pool_put_body_common(struct wefti_cold *body)
{
	struct wreck w = { .count = 0 };

	to_common(body, &w);
	end_stacks(&w);
}

void wefti_pool_spill_slots(struct wefti_slot_list *list, unsigned keep)
{
	while (list->count > keep) {
		struct wefti_thread *t = container_of(list->top,
					struct wefti_thread, node);

		list->top = list->top->next;
		list->count--;
		wefti_thread_bare_free(t);
	}
}

void wefti_pool_drain(struct wefti_vcpu *v)
{
	for (int light = 0; light < 2; light++)
		for (unsigned c = 0; c < WEFTI_STACK_CLASSES; c++)
			wefti_pool_spill_bodies(&v->bodies[light][c], 0);
	wefti_pool_spill_slots(&v->slots, 0);
}

/* Called when no timer is in a heap any more. */
void wefti_pool_drain_common(void)
{
	struct wreck w = { .count = 0 };

	for (int light = 0; light < 2; light++)
		for (unsigned c = 0; c < WEFTI_STACK_CLASSES; c++) {
			struct wefti_cold *body;

			while ((body = from_common(light, c)))
				take_apart(body, &w);
		}
	end_stacks(&w);
}
