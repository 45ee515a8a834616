/* SPDX-License-Identifier: MIT */
/*
 * life/pool.c - what ended threads leave: structs, and bodies with stack and TLS
 *
 * A thread gives its body back when it ends, and its struct when it is joined. (A pthread
 * keeps both until then. life/exit.c says when a body is free, I4.) So a
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
 *   common.lost_hint  miss, to_common, wefti_pool_drain_common
 *   common.missed_hint  miss, wefti_pool_drain_common
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
#define COMMON_MOST	16384	/* for a program that has missed as many */

#define WRECK_MOST	64	/* stacks that end together */

#define COLOURS		15	/* stack tops are spread over this many lines */
#define FRAMES		8	/* lines of a new thread's first frames */

/*
 * Depots over the table of stacks: a body is found by the index of its stack. If a body was
 * taken apart and another is made later, the first one is missed: from then on the pool has
 * room for one more. So the pool keeps more than COMMON_BODIES only for a program that had
 * more threads twice. The counts are hints: they may be off by what VCPUs move just then.
 */
static struct {
	struct wefti_depot depot;
	_Atomic int32_t count_hint;
	_Atomic int32_t lost_hint;	/* taken apart, and not missed yet */
	_Atomic int32_t missed_hint;
} common[2][WEFTI_STACK_CLASSES];

static size_t lines_above(uint32_t index)
{
	return 1 + index % COLOURS;
}

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
	char *top = (char *)stack->top - lines_above(stack->index) * CACHE_LINE;
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
	int32_t room = COMMON_BODIES + load_relaxed(&common[light][class].missed_hint);

	if (n >= room && wefti_timer_is_free(&body->timer)) {
		fetch_sub_relaxed(&common[light][class].count_hint, 1);
		fetch_add_relaxed(&common[light][class].lost_hint, 1);
		take_apart(body, w);
		return;
	}
	wefti_depot_push(&common[light][class].depot, body->stack.index,
			 wefti_stack_link(body->stack.index));
}

/*
 * Fetches lines of the body that the next spawn will take from here: its thread control
 * block, its cold part, its first frames. Where thousands of threads have TLS, these lines
 * are in no cache near. The body lies in its stack as this one does, but for the lines at
 * the top. If another thread takes it, nothing is lost.
 */
static void fetch_next(const struct wefti_depot *depot, const struct wefti_cold *body)
{
	const uint32_t next = wefti_depot_top(wefti_depot_load(depot));
	const char *top, *cold;

	if (next == WEFTI_DEPOT_NONE)
		return;
	top = wefti_stack_top(next);
	cold = top - ((const char *)body->stack.top - (const char *)body) -
	       ((int)lines_above(next) - (int)lines_above(body->stack.index)) * CACHE_LINE;
	__builtin_prefetch(top - 1, 1);
	__builtin_prefetch(cold + (body->tp - (uintptr_t)body), 1);
	for (int line = -FRAMES; line < 2; line++)
		__builtin_prefetch(cold + line * CACHE_LINE, 1);
}

static struct wefti_cold *from_common(int light, unsigned class)
{
	uint32_t index = wefti_depot_pop(&common[light][class].depot,
					 wefti_stack_link);
	struct wefti_cold *body;

	if (index == WEFTI_DEPOT_NONE)
		return NULL;
	fetch_sub_relaxed(&common[light][class].count_hint, 1);
	body = *body_of(wefti_stack_top(index));
	if (!light)
		fetch_next(&common[light][class].depot, body);
	return body;
}

static void miss(int light, unsigned class)
{
	if (load_relaxed(&common[light][class].lost_hint) <= 0)
		return;
	fetch_sub_relaxed(&common[light][class].lost_hint, 1);
	if (load_relaxed(&common[light][class].missed_hint) < COMMON_MOST - COMMON_BODIES)
		fetch_add_relaxed(&common[light][class].missed_hint, 1);
}

COLD struct wefti_cold *wefti_pool_make_body(int light, unsigned stack_class,
					     int *error)
{
	struct wefti_stack stack;
	struct wefti_cold *body = from_common(light, stack_class);

	if (body)
		return body;
	miss(light, stack_class);
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
			store_relaxed(&common[light][c].lost_hint, 0);
			store_relaxed(&common[light][c].missed_hint, 0);
		}
	end_stacks(&w);
}
