/* SPDX-License-Identifier: MIT */
/* test_slot.c - mem/slot: batches of slots, where they lie, and the last one */
#include "mem/slot.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "support.h"

#define CREW	4
#define BATCHES	100

static const char zeros[WEFTI_THREAD_SIZE];

/* This comes first. Index 0 is a slot as others are; thread/ leaves it out. */
static void there_is_no_slot_before_the_first_batch(void)
{
	uint32_t first = 1, count = 0;

	CU_ASSERT_EQUAL(wefti_slot_limit(), 0);
	CU_ASSERT_PTR_NULL(wefti_slot_get(0));
	CU_ASSERT_EQUAL_FATAL(wefti_slot_grow(&first, &count), 0);
	CU_ASSERT_EQUAL(first, 0);
	CU_ASSERT_PTR_NOT_NULL(wefti_slot_get(0));
}

static void slot_is_as_large_as_a_thread_and_lies_dense(void)
{
	uint32_t first = 1, count = 0, limit = wefti_slot_limit();
	char *slot;

	CU_ASSERT_EQUAL_FATAL(wefti_slot_grow(&first, &count), 0);
	CU_ASSERT_EQUAL(first, limit);
	CU_ASSERT_EQUAL(count, WEFTI_SLOT_BATCH);
	CU_ASSERT_EQUAL(wefti_slot_limit(), first + count);
	slot = (char *)wefti_slot_get(first);
	CU_ASSERT_PTR_NOT_NULL_FATAL(slot);
	CU_ASSERT_EQUAL((uintptr_t)slot % CACHE_LINE, 0);
	for (uint32_t i = 1; i < count; i++)
		CU_ASSERT_PTR_EQUAL(wefti_slot_get(first + i),
				    slot + i * WEFTI_THREAD_SIZE);
	CU_ASSERT_PTR_NULL(wefti_slot_get(WEFTI_SLOT_MOST));
	CU_ASSERT_PTR_NULL(wefti_slot_get(UINT32_MAX));
}

/* Over the end of a chunk, behind which the next lies anywhere. */
static void a_slot_stays_where_it_is_and_what_it_is(void)
{
	uint32_t first, count;
	char *old;

	CU_ASSERT_EQUAL_FATAL(wefti_slot_grow(&first, &count), 0);
	old = (char *)wefti_slot_get(0);
	memset(old, 7, WEFTI_THREAD_SIZE);
	while (wefti_slot_limit() < 2 * WEFTI_DENSE_CHUNK) {
		CU_ASSERT_EQUAL_FATAL(wefti_slot_grow(&first, &count), 0);
		CU_ASSERT_EQUAL(first / WEFTI_DENSE_CHUNK,
				(first + count - 1) / WEFTI_DENSE_CHUNK);
		for (uint32_t i = first; i < first + count; i++) {
			char *slot = (char *)wefti_slot_get(i);

			CU_ASSERT_EQUAL(memcmp(slot, zeros, sizeof(zeros)), 0);
			memset(slot, 7, WEFTI_THREAD_SIZE);
		}
	}
	CU_ASSERT_PTR_EQUAL(wefti_slot_get(0), old);
	for (uint32_t i = 0; i < WEFTI_THREAD_SIZE; i++)
		CU_ASSERT_EQUAL(old[i], 7);
}

struct grower {
	pthread_t thread;
	uint32_t first[BATCHES];
	int wrong;
};

static void *grow(void *arg)
{
	struct grower *g = arg;

	for (int i = 0; i < BATCHES; i++) {
		uint32_t count = 0;

		g->wrong |= wefti_slot_grow(&g->first[i], &count) != 0 ||
			    count != WEFTI_SLOT_BATCH ||
			    wefti_slot_limit() < g->first[i] + count;
	}
	return NULL;
}

static void kernel_threads_that_grow_at_once_share_no_batch(void)
{
	static struct grower grower[CREW];
	static unsigned char seen[CREW * BATCHES];
	uint32_t from = wefti_slot_limit();

	for (int i = 0; i < CREW; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&grower[i].thread, NULL,
						     grow, &grower[i]), 0);
	for (int i = 0; i < CREW; i++) {
		pthread_join(grower[i].thread, NULL);
		CU_ASSERT_FALSE(grower[i].wrong);
	}
	for (int i = 0; i < CREW * BATCHES; i++) {
		uint32_t at = grower[i / BATCHES].first[i % BATCHES] - from;

		CU_ASSERT_EQUAL(at % WEFTI_SLOT_BATCH, 0);
		CU_ASSERT_TRUE_FATAL(at / WEFTI_SLOT_BATCH < CREW * BATCHES);
		CU_ASSERT_EQUAL(seen[at / WEFTI_SLOT_BATCH]++, 0);
	}
	CU_ASSERT_EQUAL(wefti_slot_limit(),
			from + CREW * BATCHES * WEFTI_SLOT_BATCH);
}

/* 16 million; after it this process has no more slots. */
static void when_all_slots_are_out_nothing_changes(void)
{
	uint32_t first = 0, count = 0, last = WEFTI_SLOT_MOST -
					      WEFTI_SLOT_BATCH;

	CU_ASSERT_EQUAL_FATAL(wefti_dense_grow(&wefti_slots, WEFTI_THREAD_SIZE,
				last - wefti_slot_limit(), &first), 0);
	CU_ASSERT_EQUAL(wefti_slot_grow(&first, &count), 0);
	CU_ASSERT_EQUAL(first, last);
	CU_ASSERT_PTR_NOT_NULL(wefti_slot_get(WEFTI_SLOT_MOST - 1));
	first = count = 77;
	CU_ASSERT_EQUAL(wefti_slot_grow(&first, &count), -ENOMEM);
	CU_ASSERT_EQUAL(first, 77);
	CU_ASSERT_EQUAL(count, 77);
	CU_ASSERT_EQUAL(wefti_slot_limit(), WEFTI_SLOT_MOST);
}

static const struct test_case cases[] = {
	TEST(there_is_no_slot_before_the_first_batch),
	TEST(slot_is_as_large_as_a_thread_and_lies_dense),
	TEST(a_slot_stays_where_it_is_and_what_it_is),
	TEST(kernel_threads_that_grow_at_once_share_no_batch),
	TEST(when_all_slots_are_out_nothing_changes),
};

TEST_MAIN("mem/slot", cases)
