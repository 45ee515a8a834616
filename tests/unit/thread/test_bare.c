/* SPDX-License-Identifier: MIT */
/*
 * test_bare.c - thread/bare: each struct is one thread's at a time, and an id
 * names one that lives
 */
#include "thread/bare.h"

#include <errno.h>
#include <pthread.h>

#include "lockfree/fifo.h"
#include "support.h"

#define GREEN	WEFTI_KIND_GREEN
#define FOREIGN	WEFTI_KIND_FOREIGN
#define MANY	(2 * WEFTI_SLOT_BATCH + 1)
#define CREW	4

/* The linker puts these in the place of the real ones. */
static int no_slots, no_nodes;

int __real_wefti_slot_grow(uint32_t *first_new, uint32_t *count);
int __wrap_wefti_slot_grow(uint32_t *first_new, uint32_t *count);
int __real_wefti_fifo_reserve(uint32_t nodes);
int __wrap_wefti_fifo_reserve(uint32_t nodes);

int __wrap_wefti_slot_grow(uint32_t *first_new, uint32_t *count)
{
	return no_slots ? -ENOMEM : __real_wefti_slot_grow(first_new, count);
}

int __wrap_wefti_fifo_reserve(uint32_t nodes)
{
	return no_nodes ? -ENOMEM : __real_wefti_fifo_reserve(nodes);
}

static struct wefti_cold cold[CREW];

static struct wefti_thread *must_have(enum wefti_kind kind)
{
	struct wefti_thread *t = wefti_thread_bare(kind, &cold[0]);

	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	return t;
}

static void a_struct_has_a_slot_and_a_node_and_no_past(void)
{
	struct wefti_thread *t = must_have(GREEN), *again;

	CU_ASSERT_NOT_EQUAL(t->slot, 0);
	CU_ASSERT_NOT_EQUAL(t->fifo_node, 0);
	CU_ASSERT_PTR_EQUAL(wefti_slot_get(t->slot), t);
	t->light = 1;
	t->tp = 1;
	t->why = WEFTI_WHY_SLEEP;
	store_relaxed(&t->waits_for, &cold);
	store_relaxed(&t->in_runtime, 1);
	store_relaxed(&t->attention, 1);
	store_relaxed(&t->cancel, 1);
	store_relaxed(&t->join, (uint64_t)WEFTI_JOIN_DONE);
	wefti_thread_bare_free(t);
	CU_ASSERT_EQUAL(t->kind, WEFTI_KIND_FREE);
	CU_ASSERT_PTR_NULL(t->cold);

	again = wefti_thread_bare(WEFTI_KIND_MAIN, &cold[1]);
	CU_ASSERT_PTR_EQUAL_FATAL(again, t);	/* the last one is the next */
	CU_ASSERT_EQUAL(t->kind, WEFTI_KIND_MAIN);
	CU_ASSERT_PTR_EQUAL(t->cold, &cold[1]);
	CU_ASSERT_FALSE(t->light);
	CU_ASSERT_EQUAL(t->tp, 0);
	CU_ASSERT_EQUAL(t->why, WEFTI_WHY_NOTHING);
	CU_ASSERT_PTR_NULL(load_relaxed(&t->waits_for));
	CU_ASSERT_EQUAL(load_relaxed(&t->in_runtime), 1);	/* until it leaves */
	/* See sched/seat.c, I3: the monitor may still mean the last thread. */
	CU_ASSERT_EQUAL(load_relaxed(&t->attention), 1);
	store_relaxed(&t->attention, 0);
	CU_ASSERT_EQUAL(load_relaxed(&t->cancel), 0);
	CU_ASSERT_EQUAL(load_relaxed(&t->join), 0);
	wefti_thread_bare_free(t);
}

/* More than come at once. */
static void structs_are_made_when_there_are_no_more(void)
{
	struct wefti_thread *t[MANY];

	for (int i = 0; i < MANY; i++) {
		t[i] = must_have(GREEN);
		for (int j = 0; j < i; j++)
			CU_ASSERT_TRUE_FATAL(t[i] != t[j] &&
				t[i]->slot != t[j]->slot &&
				t[i]->fifo_node != t[j]->fifo_node);
	}
	for (int i = 0; i < MANY; i++)
		wefti_thread_bare_free(t[i]);
}

static void what_was_a_foreign_threads_stays_one(void)
{
	struct wefti_thread *f = must_have(FOREIGN), *g, *again;

	wefti_thread_bare_free(f);
	CU_ASSERT_EQUAL(f->kind, FOREIGN);
	g = must_have(GREEN);
	CU_ASSERT_PTR_NOT_EQUAL(g, f);
	CU_ASSERT_EQUAL(g->kind, GREEN);
	again = must_have(FOREIGN);
	CU_ASSERT_PTR_EQUAL(again, f);
	CU_ASSERT_EQUAL(f->kind, FOREIGN);
	wefti_thread_bare_free(g);
	wefti_thread_bare_free(f);
}

static void an_id_names_a_thread_until_it_ends(void)
{
	struct wefti_thread *t = must_have(GREEN);
	uint64_t id, next;

	CU_ASSERT_PTR_NULL(wefti_thread_find(wefti_thread_id(t)));
	wefti_thread_begins(t, WEFTI_JOIN_DETACHED);
	id = wefti_thread_id(t);
	CU_ASSERT_PTR_EQUAL(wefti_thread_find(id), t);
	CU_ASSERT_EQUAL(wefti_join_state(load_relaxed(&t->join)),
			WEFTI_JOIN_DETACHED);
	CU_ASSERT_FALSE(wefti_join_is_ticket(load_relaxed(&t->join)));
	CU_ASSERT_EQUAL(load_relaxed(&t->join) >> 2, id >> 32);
	wefti_thread_turn(t);
	CU_ASSERT_PTR_NULL(wefti_thread_find(id));
	CU_ASSERT_PTR_NULL(wefti_thread_find(wefti_thread_id(t)));
	wefti_thread_begins(t, WEFTI_JOIN_NONE);
	next = wefti_thread_id(t);
	CU_ASSERT_NOT_EQUAL(next, id);
	CU_ASSERT_EQUAL((uint32_t)next, (uint32_t)id);
	CU_ASSERT_PTR_NULL(wefti_thread_find(id));
	CU_ASSERT_PTR_EQUAL(wefti_thread_find(next), t);
	wefti_thread_turn(t);
	wefti_thread_bare_free(t);
	CU_ASSERT_PTR_NULL(wefti_thread_find(next));
}

static void what_was_never_an_id_names_nobody(void)
{
	const uint64_t odd = UINT64_C(1) << 32;

	CU_ASSERT_PTR_NULL(wefti_thread_find(0));
	CU_ASSERT_PTR_NULL(wefti_thread_find(odd));
	CU_ASSERT_PTR_NULL(wefti_thread_find(odd | (WEFTI_SLOT_MOST - 1)));
	CU_ASSERT_PTR_NULL(wefti_thread_find(odd | WEFTI_SLOT_MOST));
	CU_ASSERT_PTR_NULL(wefti_thread_find(UINT64_MAX));
}

/* The generation of an id is 32 bits: 0 comes after the last, which is odd. */
static void generations_wrap(void)
{
	struct wefti_thread *t = must_have(GREEN);
	uint32_t was = load_relaxed(&t->gen);

	store_relaxed(&t->gen, UINT32_MAX - 1);
	wefti_thread_begins(t, WEFTI_JOIN_NONE);
	CU_ASSERT_PTR_EQUAL(wefti_thread_find(wefti_thread_id(t)), t);
	CU_ASSERT_FALSE(wefti_join_is_ticket(load_relaxed(&t->join)));
	wefti_thread_turn(t);
	CU_ASSERT_EQUAL(load_relaxed(&t->gen), 0);
	CU_ASSERT_PTR_NULL(wefti_thread_find(wefti_thread_id(t)));
	store_relaxed(&t->gen, was);
	wefti_thread_bare_free(t);
}

/* Takes what there is, and is refused; then there is memory again. */
static void run_out_of(int *what)
{
	static struct wefti_thread *t[100 * WEFTI_SLOT_BATCH];
	size_t n = 0;

	*what = 1;
	while (n < sizeof(t) / sizeof(t[0]) &&
	       (t[n] = wefti_thread_bare(GREEN, &cold[0])) != NULL)
		n++;
	CU_ASSERT_TRUE_FATAL(n < sizeof(t) / sizeof(t[0]));
	CU_ASSERT_PTR_NULL(wefti_thread_bare(GREEN, &cold[0]));
	*what = 0;
	t[n++] = must_have(GREEN);
	while (n > 0)
		wefti_thread_bare_free(t[--n]);
}

static void without_memory_there_is_no_struct_and_later_there_is(void)
{
	run_out_of(&no_slots);
	run_out_of(&no_nodes);
}

/* --- at once */

static size_t turns;

static void *take_and_give(void *arg)
{
	uintptr_t me = (uintptr_t)arg;
	struct wefti_thread *held[3] = { NULL };
	size_t wrong = 0;
	uint64_t seed = test_seed(me);

	for (size_t i = 0; i < turns; i++) {
		struct wefti_thread **t = &held[test_random_below(&seed, 3)];

		if (!*t) {
			*t = wefti_thread_bare(i % 2 ? GREEN : FOREIGN,
					       &cold[me]);
			if (!*t)
				return (void *)1;
			(*t)->vcpu = (void *)t;
			continue;
		}
		wrong += (*t)->cold != &cold[me] || (*t)->vcpu != (void *)t;
		wefti_thread_bare_free(*t);
		*t = NULL;
	}
	for (int i = 0; i < 3; i++)
		if (held[i])
			wefti_thread_bare_free(held[i]);
	return (void *)wrong;
}

static void a_struct_is_one_threads_at_a_time(void)
{
	pthread_t thread[CREW];

	turns = test_scaled(20000);
	for (uintptr_t i = 0; i < CREW; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL,
						take_and_give, (void *)i), 0);
	for (int i = 0; i < CREW; i++) {
		void *wrong = NULL;

		pthread_join(thread[i], &wrong);
		CU_ASSERT_PTR_NULL(wrong);
	}
}

static const struct test_case cases[] = {
	TEST(a_struct_has_a_slot_and_a_node_and_no_past),
	TEST(structs_are_made_when_there_are_no_more),
	TEST(what_was_a_foreign_threads_stays_one),
	TEST(an_id_names_a_thread_until_it_ends),
	TEST(what_was_never_an_id_names_nobody),
	TEST(generations_wrap),
	TEST(without_memory_there_is_no_struct_and_later_there_is),
	TEST(a_struct_is_one_threads_at_a_time),
};

TEST_MAIN("thread/bare", cases)
