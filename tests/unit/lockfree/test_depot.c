/* SPDX-License-Identifier: MIT */
/* test_depot.c - lockfree/depot: LIFO order, tags, many threads */
#include "lockfree/depot.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#define SLOTS	8
#define CREW	4

/* The table that the depot threads its list through. */
static struct slot {
	_Atomic uint32_t next;
	unsigned owners;		/* plain: the pairs make it race-free */
	uint64_t uses;
} slots[SLOTS];

static _Atomic uint32_t *next_of(uint32_t index)
{
	return &slots[index].next;
}

static void push(struct wefti_depot *d, uint32_t index)
{
	wefti_depot_push(d, index, next_of(index));
}

static void depot_is_empty_when_zero_filled(void)
{
	struct wefti_depot d;

	memset(&d, 0, sizeof(d));
	CU_ASSERT_TRUE(wefti_depot_is_empty(&d));
	CU_ASSERT_EQUAL(wefti_depot_pop(&d, next_of), WEFTI_DEPOT_NONE);
}

static void depot_gives_the_last_pushed_first_when_the_tag_wraps(void)
{
	struct wefti_depot d;

	memset(&d, 0, sizeof(d));
	store_relaxed(&d.word, (uint64_t)(UINT32_MAX - 20));
	for (int lap = 0; lap < 5; lap++) {
		for (uint32_t i = 0; i < SLOTS; i++) {
			push(&d, i);
			CU_ASSERT_FALSE(wefti_depot_is_empty(&d));
		}
		for (uint32_t i = SLOTS; i-- > 0;)
			CU_ASSERT_EQUAL(wefti_depot_pop(&d, next_of), i);
		CU_ASSERT_EQUAL(wefti_depot_pop(&d, next_of),
				WEFTI_DEPOT_NONE);
	}
}

/* A popper has read the next of 0; then 0 and 1 go, and 0 comes back. */
static void depot_refuses_a_pop_that_read_an_old_next(void)
{
	struct wefti_depot d;

	memset(&d, 0, sizeof(d));
	push(&d, 1);
	push(&d, 0);

	uint64_t seen = load_relaxed(&d.word);

	CU_ASSERT_EQUAL(wefti_depot_pop(&d, next_of), 0);
	CU_ASSERT_EQUAL(wefti_depot_pop(&d, next_of), 1);
	push(&d, 0);
	CU_ASSERT_EQUAL(load_relaxed(&d.word) >> 32, seen >> 32);
	CU_ASSERT_FALSE(cas_seq_cst(&d.word, &seen,
				    wefti_depot_word(seen, 1 + 1)));
	CU_ASSERT_EQUAL(wefti_depot_pop(&d, next_of), 0);
	CU_ASSERT_TRUE(wefti_depot_is_empty(&d));
}

static struct wefti_depot shared;

struct member {
	uint64_t seed;
	size_t turns, uses, collisions;
};

/* Holds up to two at a time, so the order of the list changes. */
static void *member(void *arg)
{
	struct member *m = arg;
	uint32_t held[2];
	int n = 0;

	for (size_t i = 0; i < m->turns || n > 0; i++) {
		uint32_t index = WEFTI_DEPOT_NONE;

		if (i < m->turns && n < 2 &&
		    test_random_below(&m->seed, 2) == 0)
			index = wefti_depot_pop(&shared, next_of);
		if (index != WEFTI_DEPOT_NONE) {
			m->collisions += slots[index].owners++ != 0;
			slots[index].uses++;
			m->uses++;
			held[n++] = index;
		} else if (n > 0) {
			slots[held[--n]].owners--;
			push(&shared, held[n]);
		}
	}
	return NULL;
}

static void depot_gives_an_index_to_one_at_a_time(void)
{
	struct member m[CREW];
	pthread_t tid[CREW];
	uint64_t uses = 0;
	int seen[SLOTS] = { 0 };

	memset(slots, 0, sizeof(slots));
	memset(&shared, 0, sizeof(shared));
	for (uint32_t i = 0; i < SLOTS; i++)
		push(&shared, i);
	for (int i = 0; i < CREW; i++) {
		m[i] = (struct member){ .seed = test_seed((uint64_t)i),
					.turns = test_scaled(200000) };
		CU_ASSERT_EQUAL_FATAL(pthread_create(&tid[i], NULL, member,
						     &m[i]), 0);
	}
	for (int i = 0; i < CREW; i++) {
		pthread_join(tid[i], NULL);
		CU_ASSERT_EQUAL(m[i].collisions, 0);
		uses += m[i].uses;
	}
	for (uint32_t i = 0; i < SLOTS; i++) {
		uint32_t index = wefti_depot_pop(&shared, next_of);

		CU_ASSERT_FATAL(index < SLOTS);
		CU_ASSERT_EQUAL(seen[index]++, 0);
		uses -= slots[index].uses;
	}
	CU_ASSERT_EQUAL(uses, 0);
	CU_ASSERT_TRUE(wefti_depot_is_empty(&shared));
}

static const struct test_case cases[] = {
	TEST(depot_is_empty_when_zero_filled),
	TEST(depot_gives_the_last_pushed_first_when_the_tag_wraps),
	TEST(depot_refuses_a_pop_that_read_an_old_next),
	TEST(depot_gives_an_index_to_one_at_a_time),
};

TEST_MAIN("lockfree/depot", cases)
