/* SPDX-License-Identifier: MIT */
/* test_list.c - base/list: order, removal anywhere, removal in a walk */
#include "base/list.h"

#include "support.h"

#define ITEMS	6

struct item {
	int number;
	struct wefti_list link;
};

static struct wefti_list head;
static struct item items[ITEMS];

static void prepare(void)
{
	wefti_list_init(&head);
	for (int i = 0; i < ITEMS; i++) {
		items[i].number = i;
		wefti_list_init(&items[i].link);
	}
}

/* The numbers in the list as decimal digits, from the front and the back. */
static int forwards(void)
{
	int digits = 0;

	wefti_list_for_each(link, &head)
		digits = digits * 10 +
			 container_of(link, struct item, link)->number;
	return digits;
}

static int backwards(void)
{
	int digits = 0;

	for (struct wefti_list *l = head.prev; l != &head; l = l->prev)
		digits = digits * 10 +
			 container_of(l, struct item, link)->number;
	return digits;
}

static void list_keeps_the_order_of_both_ends(void)
{
	prepare();
	CU_ASSERT_TRUE(wefti_list_is_empty(&head));
	CU_ASSERT_PTR_NULL(wefti_list_pop_front(&head));
	wefti_list_push_back(&head, &items[3].link);
	wefti_list_push_back(&head, &items[4].link);
	wefti_list_push_front(&head, &items[2].link);
	wefti_list_push_front(&head, &items[1].link);
	wefti_list_insert_before(&items[3].link, &items[5].link);
	CU_ASSERT_EQUAL(forwards(), 12534);
	CU_ASSERT_EQUAL(backwards(), 43521);
	CU_ASSERT_PTR_EQUAL(wefti_list_pop_front(&head), &items[1].link);
	CU_ASSERT_EQUAL(forwards(), 2534);
}

static void list_removes_from_anywhere_and_once_more_without_harm(void)
{
	prepare();
	for (int i = 1; i < ITEMS; i++)
		wefti_list_push_back(&head, &items[i].link);
	CU_ASSERT_FALSE(wefti_list_is_empty(&items[3].link));
	wefti_list_remove(&items[3].link);
	CU_ASSERT_TRUE(wefti_list_is_empty(&items[3].link));
	wefti_list_remove(&items[3].link);
	CU_ASSERT_EQUAL(forwards(), 1245);
	wefti_list_remove(&items[1].link);
	wefti_list_remove(&items[5].link);
	CU_ASSERT_EQUAL(forwards(), 24);
	CU_ASSERT_EQUAL(backwards(), 42);
	wefti_list_remove(&items[2].link);
	wefti_list_remove(&items[4].link);
	CU_ASSERT_TRUE(wefti_list_is_empty(&head));
}

static void list_can_be_emptied_by_a_walk(void)
{
	int seen = 0;

	prepare();
	for (int i = 0; i < ITEMS; i++)
		wefti_list_push_back(&head, &items[i].link);
	wefti_list_for_each(link, &head) {
		wefti_list_remove(link);
		seen++;
	}
	CU_ASSERT_EQUAL(seen, ITEMS);
	CU_ASSERT_TRUE(wefti_list_is_empty(&head));
}

static const struct test_case cases[] = {
	TEST(list_keeps_the_order_of_both_ends),
	TEST(list_removes_from_anywhere_and_once_more_without_harm),
	TEST(list_can_be_emptied_by_a_walk),
};

TEST_MAIN("base/list", cases)
