/* SPDX-License-Identifier: MIT */
/* slab/lists.c - one free list: under locks, by compare-and-swap, weft/stack.h */
#include <pthread.h>
#include <stdlib.h>

#include "cpu.h"
#include "lockfree/atomic.h"
#include "lockfree/depot.h"
#include "slab/allocs.h"
#include "weft/stack.h"

union object {
	union object *next;
	struct weft_stack_node node;
	char bytes[OBJECT_BYTES];
};

static union object *objects, *first;

static void make_list(void)
{
	objects = aligned_alloc(OBJECT_BYTES, OBJECTS * sizeof(*objects));
	if (!objects)
		bench_fail("no memory");
	for (unsigned i = 0; i < OBJECTS; i++) {
		objects[i].next = first;
		first = &objects[i];
	}
}

/* LOCK and UNLOCK around the same list. */
#define LIST(name, LOCK, UNLOCK)					\
	static NOINLINE void *name##_take(void)				\
	{								\
		union object *o;					\
									\
		LOCK;							\
		o = first;						\
		first = o->next;					\
		UNLOCK;							\
		return o;						\
	}								\
									\
	static NOINLINE void name##_give(void *object)			\
	{								\
		union object *o = object;				\
									\
		LOCK;							\
		o->next = first;					\
		first = o;						\
		UNLOCK;							\
	}								\
									\
	ALLOC_OPS(name, name##_take(), name##_give(object));		\
									\
	static void make_##name(void)					\
	{								\
		make_list();						\
		alloc_ops = name##_ops;					\
	}

static _Alignas(128) _Atomic unsigned word;
static _Alignas(128) pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void tas_lock(void)
{
	while (xchg_seq_cst(&word, 1u))
		;
}

static void ttas_lock(void)
{
	while (xchg_seq_cst(&word, 1u))
		while (load_relaxed(&word))
			wefti_arch_pause();
}

static void backoff_lock(void)
{
	unsigned wait = 8;

	while (xchg_seq_cst(&word, 1u)) {
		for (unsigned i = 0; i < wait; i++)
			wefti_arch_pause();
		if (wait < 4096)
			wait *= 2;
	}
}

static void spin_unlock(void)
{
	store_seq_cst(&word, 0u);
}

/* Waiting threads stand in line; all of them look at one word. */
static struct {
	_Alignas(128) _Atomic unsigned next;
	_Alignas(128) _Atomic unsigned serves;
} tickets;

static void ticket_lock(void)
{
	unsigned mine = fetch_add_seq_cst(&tickets.next, 1u);

	while (load_acquire(&tickets.serves) != mine)
		wefti_arch_pause();
}

static void ticket_unlock(void)
{
	store_release(&tickets.serves, load_relaxed(&tickets.serves) + 1);
}

/* The same after Mellor-Crummey and Scott: each looks at a word of its own. */
struct mcs {
	_Alignas(128) _Atomic(struct mcs *) next;
	_Atomic unsigned waits;
};

static _Alignas(128) _Atomic(struct mcs *) mcs_last;
static _Thread_local struct mcs mcs_own;

static void mcs_lock(void)
{
	struct mcs *me = &mcs_own, *before;

	store_relaxed(&me->next, NULL);
	store_relaxed(&me->waits, 1u);
	before = xchg_seq_cst(&mcs_last, me);
	if (!before)
		return;
	store_release(&before->next, me);
	while (load_acquire(&me->waits))
		wefti_arch_pause();
}

static void mcs_unlock(void)
{
	struct mcs *me = &mcs_own, *last = me, *next;

	if (!load_acquire(&me->next) && cas_seq_cst(&mcs_last, &last, NULL))
		return;
	while ((next = load_acquire(&me->next)) == NULL)
		wefti_arch_pause();
	store_release(&next->waits, 0u);
}

LIST(tas, tas_lock(), spin_unlock())
LIST(ttas, ttas_lock(), spin_unlock())
LIST(backoff, backoff_lock(), spin_unlock())
LIST(mutex, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))

#define USE(name)							\
	void use_##name(struct bench_ctx *ctx)				\
	{								\
		(void)ctx;						\
		make_##name();						\
	}

/* The next in line would often not be running: that takes slices, not turns. */
#define USE_IN_LINE(name)						\
	void use_##name(struct bench_ctx *ctx)				\
	{								\
		if (ctx->threads > ctx->vcpus)				\
			bench_skip(ctx, "more threads than CPUs");	\
		make_##name();						\
	}

LIST(ticket, ticket_lock(), ticket_unlock())
LIST(mcs, mcs_lock(), mcs_unlock())
USE(tas)
USE(ttas)
USE(backoff)
USE(mutex)
USE_IN_LINE(ticket)
USE_IN_LINE(mcs)

/* A tagged list of indexes, the runtime's own. */
static _Alignas(128) struct wefti_depot depot;
static _Atomic uint32_t *next;

static _Atomic uint32_t *next_of(uint32_t index)
{
	return &next[index];
}

static NOINLINE void *cas_take(void)
{
	return &objects[wefti_depot_pop(&depot, next_of)];
}

static NOINLINE void cas_give(void *object)
{
	uint32_t index = (uint32_t)((union object *)object - objects);

	wefti_depot_push(&depot, index, next_of(index));
}

ALLOC_OPS(cas, cas_take(), cas_give(object));

void use_cas(struct bench_ctx *ctx)
{
	(void)ctx;
	make_list();
	next = calloc(OBJECTS, sizeof(*next));
	if (!next)
		bench_fail("no memory");
	for (uint32_t i = 0; i < OBJECTS; i++)
		wefti_depot_push(&depot, i, next_of(i));
	alloc_ops = cas_ops;
}

/* The public stacks, with the back-off that they have by themselves. */
static struct weft_stack stack = WEFT_STACK_INIT;
static _Alignas(128) struct weft_index_stack index_stack;
static uint32_t *links;

static NOINLINE void *stack_take(void)
{
	return weft_stack_pop(&stack);	/* the node is what it begins with */
}

static NOINLINE void stack_give(void *object)
{
	weft_stack_push(&stack, &((union object *)object)->node);
}

ALLOC_OPS(stack, stack_take(), stack_give(object));

void use_stack(struct bench_ctx *ctx)
{
	(void)ctx;
	make_list();
	for (uint32_t i = 0; i < OBJECTS; i++)
		weft_stack_push(&stack, &objects[i].node);
	alloc_ops = stack_ops;
}

static NOINLINE void *istack_take(void)
{
	return &objects[weft_index_stack_pop(&index_stack, links,
					     sizeof(*links))];
}

static NOINLINE void istack_give(void *object)
{
	weft_index_stack_push(&index_stack, links, sizeof(*links),
			      (uint32_t)((union object *)object - objects));
}

ALLOC_OPS(istack, istack_take(), istack_give(object));

void use_istack(struct bench_ctx *ctx)
{
	(void)ctx;
	make_list();
	links = calloc(OBJECTS, sizeof(*links));
	if (!links)
		bench_fail("no memory");
	for (uint32_t i = 0; i < OBJECTS; i++)
		weft_index_stack_push(&index_stack, links, sizeof(*links), i);
	alloc_ops = istack_ops;
}
