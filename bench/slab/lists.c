/* SPDX-License-Identifier: MIT */
/* slab/lists.c - one free list: under locks, and by compare-and-swap */
#include <pthread.h>
#include <stdlib.h>

#include "cpu.h"
#include "lockfree/atomic.h"
#include "lockfree/depot.h"
#include "slab/allocs.h"

union object {
	union object *next;
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
	void use_##name(struct bench_ctx *ctx)				\
	{								\
		(void)ctx;						\
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

LIST(tas, tas_lock(), spin_unlock())
LIST(ttas, ttas_lock(), spin_unlock())
LIST(backoff, backoff_lock(), spin_unlock())
LIST(mutex, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))

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
