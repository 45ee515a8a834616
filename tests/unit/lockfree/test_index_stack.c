/* SPDX-License-Identifier: MIT */
/*
 * test_index_stack.c - lockfree/index_stack: which bytes are a link, how large
 * an index may be, and the back-off
 *
 * Order, tags, crews and two processes: test_pointer_stack.c, for both kinds of stack.
 */
#include "lockfree/public_stacks.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "support.h"

#define ELEMENTS	8u
#define CREW		3
#define LARGEST		(WEFT_INDEX_NONE - 1)

static struct weft_index_stack stack;

/* 12 bytes each, so that no power of two is a stride. */
static struct {
	uint32_t before, link, behind;
} table[ELEMENTS];

static void only_the_links_of_a_table_are_written(void)
{
	memset(&stack, 0, sizeof(stack));
	memset(table, 0x5a, sizeof(table));
	for (uint32_t i = 0; i < ELEMENTS; i++)
		weft_index_stack_push(&stack, &table[0].link, sizeof(table[0]),
				      i);
	for (uint32_t i = ELEMENTS; i-- > 0;)
		CU_ASSERT_EQUAL(weft_index_stack_pop(&stack, &table[0].link,
						     sizeof(table[0])), i);
	for (uint32_t i = 0; i < ELEMENTS; i++) {
		CU_ASSERT_EQUAL(table[i].before, 0x5a5a5a5a);
		CU_ASSERT_EQUAL(table[i].behind, 0x5a5a5a5a);
		CU_ASSERT_NOT_EQUAL(table[i].link, 0x5a5a5a5a);
	}
}

/* A call that only looks, or finds nothing, needs no table. */
static void an_empty_stack_needs_no_table(void)
{
	memset(&stack, 0, sizeof(stack));
	CU_ASSERT_EQUAL(weft_index_stack_pop(&stack, NULL, 4),
			WEFT_INDEX_NONE);
	CU_ASSERT_EQUAL(weft_index_stack_is_empty(&stack), 1);
	weft_index_stack_push(&stack, &table[0].link, sizeof(table[0]), 0);
	CU_ASSERT_EQUAL(weft_index_stack_is_empty(&stack), 0);
	CU_ASSERT_EQUAL(weft_index_stack_pop(&stack, &table[0].link,
					     sizeof(table[0])), 0);
	CU_ASSERT_EQUAL(weft_index_stack_is_empty(&stack), 1);
}

/* A table of 16 GiB, of which three pages are touched. */
static void every_index_below_none_is_one(void)
{
	static const uint32_t index[] = { LARGEST, 0, 1u << 31, LARGEST - 1 };
	const size_t bytes = (size_t)WEFT_INDEX_NONE * sizeof(uint32_t);
	uint32_t *links = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			       -1, 0);

	if (links == MAP_FAILED) {
		puts("    not tried: no 16 GiB of address space");
		return;
	}
	memset(&stack, 0, sizeof(stack));
	for (int i = 0; i < 4; i++)
		weft_index_stack_push(&stack, links, sizeof(*links), index[i]);
	for (int i = 4; i-- > 0;)
		CU_ASSERT_EQUAL(weft_index_stack_pop(&stack, links,
						     sizeof(*links)), index[i]);
	CU_ASSERT_EQUAL(weft_index_stack_pop(&stack, links, sizeof(*links)),
			WEFT_INDEX_NONE);
	/* Each in its own place: what lay below, as index + 1. */
	CU_ASSERT_EQUAL(links[LARGEST], 0);
	CU_ASSERT_EQUAL(links[0], LARGEST + 1);
	CU_ASSERT_EQUAL(links[1u << 31], 1);
	CU_ASSERT_EQUAL(links[LARGEST - 1], (1u << 31) + 1);
	CU_ASSERT_EQUAL(munmap(links, bytes), 0);
}

static uint64_t most_of(struct weft_index_stack *s)
{
	return load_relaxed(&wefti_index_stack_of(s)->back_off.most);
}

static void a_refused_back_off_leaves_the_one_there_was(void)
{
	struct weft_index_stack a = { { 0 } }, b = { { 0 } };

	CU_ASSERT_EQUAL(weft_index_stack_set_back_off(&a, 7), 0);
	CU_ASSERT_EQUAL(most_of(&a), 7 + 1);
	CU_ASSERT_EQUAL(weft_index_stack_set_back_off(&a, 65537), -EINVAL);
	CU_ASSERT_EQUAL(weft_index_stack_set_back_off(&a, UINT_MAX), -EINVAL);
	CU_ASSERT_EQUAL(most_of(&a), 7 + 1);
	CU_ASSERT_EQUAL(most_of(&b), 0);	/* each has its own */
	CU_ASSERT_EQUAL(weft_index_stack_set_back_off(&a, 0), 0);
	CU_ASSERT_EQUAL(most_of(&a), 1);	/* and not the default */
	CU_ASSERT_TRUE(weft_index_stack_is_empty(&a));
}

static size_t turns;
static _Atomic uint32_t at_work;

/* before is plain: one thread at a time has an element. */
static void *pop_and_push(void *arg)
{
	size_t *collisions = arg;

	for (size_t i = 0; i < turns; i++) {
		uint32_t e = weft_index_stack_pop(&stack, &table[0].link,
						  sizeof(table[0]));

		if (e == WEFT_INDEX_NONE)
			continue;
		if (e >= ELEMENTS) {
			++*collisions;
			break;
		}
		*collisions += table[e].before++ != 0;
		table[e].before--;
		weft_index_stack_push(&stack, &table[0].link, sizeof(table[0]),
				      e);
	}
	fetch_sub_seq_cst(&at_work, 1);
	return NULL;
}

static void the_back_off_may_change_under_those_who_work(void)
{
	size_t collisions[CREW] = { 0 };
	unsigned most = 0, count = 0;
	pthread_t thread[CREW];

	memset(&stack, 0, sizeof(stack));
	memset(table, 0, sizeof(table));
	turns = test_scaled(20000);
	store_seq_cst(&at_work, CREW);
	for (uint32_t i = 0; i < 2; i++)
		weft_index_stack_push(&stack, &table[0].link, sizeof(table[0]),
				      i);
	for (int i = 0; i < CREW; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL,
					pop_and_push, &collisions[i]), 0);
	while (load_seq_cst(&at_work)) {
		most = most ? most * 2 % 512 : 1;
		CU_ASSERT_EQUAL(weft_index_stack_set_back_off(&stack, most), 0);
	}
	for (int i = 0; i < CREW; i++) {
		pthread_join(thread[i], NULL);
		CU_ASSERT_EQUAL(collisions[i], 0);
	}
	while (weft_index_stack_pop(&stack, &table[0].link, sizeof(table[0])) !=
	       WEFT_INDEX_NONE)
		count++;
	CU_ASSERT_EQUAL(count, 2);
}

static const struct test_case cases[] = {
	TEST(only_the_links_of_a_table_are_written),
	TEST(an_empty_stack_needs_no_table),
	TEST(every_index_below_none_is_one),
	TEST(a_refused_back_off_leaves_the_one_there_was),
	TEST(the_back_off_may_change_under_those_who_work),
};

TEST_MAIN("lockfree/index_stack", cases)
