/* SPDX-License-Identifier: MIT */
/*
 * test_groups.c - observe/groups: threads in the same place, and how many fit
 */
#include "observe/groups.h"

#include <errno.h>

#include "told.h"

#define GROUPS	256u	/* so many the table has */

/* What is in no object, so that it is told of as it is. */
static const uintptr_t pcs[WEFTI_FRAMES_MOST] = { 0x10, 0x20, 0x30, 0x40 };

static struct wefti_view sleeper(uint64_t id)
{
	return (struct wefti_view){
		.state = WEFTI_VIEW_PARKED, .why = WEFTI_WHY_SLEEP,
		.kind = WEFTI_KIND_GREEN, .id = id,
	};
}

static void add(struct wefti_view view, const uintptr_t *at, size_t n)
{
	CU_ASSERT_EQUAL(wefti_groups_add(&view, at, n), 0);
}

static void tell(void)
{
	wefti_groups_tell(told_begin());
	told_end();
}

static void one_is_told_of_as_it_is_and_two_as_one(void)
{
	wefti_groups_clear();
	tell();
	CU_ASSERT_TRUE(told_is(""));
	add(sleeper(7), pcs, 2);
	tell();
	CU_ASSERT_TRUE(told_is("\nthread id 7: parked, sleeps\n"
			       "    #0  0x0000000000000010 ?\n"
			       "    #1  0x0000000000000020 ?\n"));
	add(sleeper(9), pcs, 2);
	tell();
	CU_ASSERT_TRUE(told_is("\nthread id 7: parked, sleeps\n"
			       "    and 1 more in the same place: 9\n"
			       "    #0  0x0000000000000010 ?\n"
			       "    #1  0x0000000000000020 ?\n"));
}

/* The first and seven more by id; of others it is said that they are. */
static void a_large_group_tells_its_first_ids(void)
{
	wefti_groups_clear();
	for (uint64_t id = 1; id <= 8; id++)
		add(sleeper(id), pcs, 0);
	tell();
	CU_ASSERT_TRUE(told_is("\nthread id 1: parked, sleeps\n"
			       "    and 7 more in the same place:"
			       " 2 3 4 5 6 7 8\n"));
	add(sleeper(9), pcs, 0);
	tell();
	CU_ASSERT_TRUE(told_is("\nthread id 1: parked, sleeps\n"
			       "    and 8 more in the same place:"
			       " 2 3 4 5 6 7 8 ...\n"));
}

static void each_difference_is_another_place(void)
{
	static const uintptr_t other[] = { 0x10, 0x20, 0x31 };
	struct wefti_view v;

	wefti_groups_clear();
	for (uint64_t round = 0; round < 2; round++) {
		add(sleeper(1), pcs, 3);
		add(sleeper(2), pcs, 2);	/* what is above is the same */
		add(sleeper(3), pcs, 0);
		add(sleeper(4), other, 3);
		v = sleeper(5);
		v.light = 1;
		add(v, pcs, 3);
		v = sleeper(6);
		v.why = WEFTI_WHY_SEND;
		add(v, pcs, 3);
		v = sleeper(7);
		v.state = WEFTI_VIEW_READY;
		add(v, pcs, 3);
	}
	tell();
	for (char id[] = "id 1:"; id[3] <= '7'; id[3]++)
		CU_ASSERT_EQUAL(told_times(id), 1);
	CU_ASSERT_EQUAL(told_times("and 1 more in the same place"), 7);

	/* What differs otherwise does not make it another. */
	v = sleeper(8);
	v.object = pcs;
	v.since = 1;
	v.kind = WEFTI_KIND_MAIN;
	add(v, pcs, 3);
	tell();
	CU_ASSERT_EQUAL(told_times("and 2 more in the same place: 1 8\n"), 1);
}

static void a_full_table_knows_its_places_and_no_others(void)
{
	struct wefti_view v = sleeper(1);
	uintptr_t pc;

	wefti_groups_clear();
	for (pc = 1; pc <= GROUPS; pc++)
		add(v, &pc, 1);
	CU_ASSERT_EQUAL(wefti_groups_add(&v, &pc, 1), -ENOSPC);
	CU_ASSERT_EQUAL(wefti_groups_add(&v, &pc, 0), -ENOSPC);
	for (pc = 1; pc <= GROUPS; pc++)
		add(v, &pc, 1);
	CU_ASSERT_EQUAL(wefti_groups_add(&v, &pc, 1), -ENOSPC);
	tell();
	CU_ASSERT_EQUAL(told_times("and 1 more"), GROUPS);

	/* And nothing of it is there for the next dump. */
	wefti_groups_clear();
	tell();
	CU_ASSERT_TRUE(told_is(""));
	add(v, &pc, 1);
	pc = 1;
	add(v, &pc, 1);
	tell();
	CU_ASSERT_EQUAL(told_times("more"), 0);
	CU_ASSERT_EQUAL(told_times("id 1:"), 2);
}

/* The deepest stack that there can be. */
static void all_frames_of_a_place_count_and_are_told(void)
{
	uintptr_t deep[WEFTI_FRAMES_MOST];

	wefti_groups_clear();
	for (int i = 0; i < WEFTI_FRAMES_MOST; i++)
		deep[i] = 0x1000;
	add(sleeper(1), deep, WEFTI_FRAMES_MOST);
	deep[WEFTI_FRAMES_MOST - 1]++;
	add(sleeper(2), deep, WEFTI_FRAMES_MOST);
	tell();
	CU_ASSERT_EQUAL(told_times("more"), 0);
	CU_ASSERT_EQUAL(told_times("    #47 0x0000000000001000 ?\n    ...\n"),
			1);
	CU_ASSERT_EQUAL(told_times("    #47 0x0000000000001001 ?\n    ...\n"),
			1);
}

static const struct test_case cases[] = {
	TEST(one_is_told_of_as_it_is_and_two_as_one),
	TEST(a_large_group_tells_its_first_ids),
	TEST(each_difference_is_another_place),
	TEST(a_full_table_knows_its_places_and_no_others),
	TEST(all_frames_of_a_place_count_and_are_told),
};

TEST_MAIN("observe/groups", cases)
