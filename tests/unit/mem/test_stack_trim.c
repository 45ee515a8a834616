/* SPDX-License-Identifier: MIT */
/* test_stack_trim.c - mem/stack_trim: stacks that end together */
#include "mem/stack_trim.h"

#include <string.h>

#include "os/call/vm.h"
#include "take.h"

#define MANY	100

/* Calls of the kernel; the memory from `locked` on is locked, if that is not NULL. */
static unsigned calls;
static char *locked;

int __real_wefti_os_vm_dontneed(void *start, size_t bytes);
int __wrap_wefti_os_vm_dontneed(void *start, size_t bytes);

int __wrap_wefti_os_vm_dontneed(void *start, size_t bytes)
{
	char *low = start;

	calls++;
	if (locked && low <= locked && locked < low + bytes) {
		if (low < locked)
			CU_ASSERT_EQUAL(__real_wefti_os_vm_dontneed(low,
						(size_t)(locked - low)), 0);
		return -EINVAL;
	}
	return __real_wefti_os_vm_dontneed(start, bytes);
}

static void take_many(struct wefti_stack *s, size_t bytes, size_t guard)
{
	for (int i = 0; i < MANY; i++) {
		s[i] = take(bytes, guard);
		memset(s[i].low, 1, bytes_of(&s[i]));
	}
}

/* The memory of a slab's idle stacks may be looked at: it stays mapped. */
static size_t still_filled(struct wefti_stack *s)
{
	size_t n = 0;

	for (int i = 0; i < MANY; i++)
		n += ((char *)s[i].low)[0] != 0 || ((char *)s[i].top)[-1] != 0;
	return n;
}

/* Gives back those from `first` on, `step` apart. Returns the number of calls. */
static unsigned give_back(struct wefti_stack *s, int first, int step)
{
	uint32_t index[MANY];
	unsigned n = 0;

	for (int i = first; i >= 0 && i < MANY; i += step)
		index[n++] = s[i].index;
	calls = 0;
	wefti_stack_give_back(index, n);
	return calls;
}

static void neighbours_take_one_call_in_each_order(void)
{
	struct wefti_stack s[MANY];

	for (int down = 0; down < 2; down++) {
		take_many(s, 16 * KB, 4096);
		CU_ASSERT_EQUAL(give_back(s, down ? MANY - 1 : 0, down ? -1 : 1), 1);
		CU_ASSERT_EQUAL(still_filled(s), 0);
		CU_ASSERT_EQUAL(in_use(), 0);
		for (int i = 0; i < MANY; i++)
			CU_ASSERT_FALSE(can_read((char *)s[i].low - 1));
	}
}

/* The next ones are handed out from low to high, with their guards. */
static void stacks_are_given_again_in_the_order_of_their_addresses(void)
{
	struct wefti_stack s[MANY];

	take_many(s, 16 * KB, 4096);
	give_back(s, MANY - 1, -1);
	for (int i = 0; i < MANY; i++) {
		s[i] = take(16 * KB, 4096);
		CU_ASSERT_TRUE(i == 0 || s[i].low > s[i - 1].low);
		CU_ASSERT_FALSE(can_read((char *)s[i].low - 1));
	}
	give_back(s, 0, 1);
}

/* Every second one: what lies between them belongs to others. */
static void what_lies_between_two_stacks_stays(void)
{
	struct wefti_stack s[MANY];

	take_many(s, 16 * KB, 0);
	CU_ASSERT_EQUAL(give_back(s, 1, 2), MANY / 2);
	CU_ASSERT_EQUAL(still_filled(s), MANY / 2);
	for (int i = 0; i < MANY; i++)
		CU_ASSERT_EQUAL(((char *)s[i].low)[100], i % 2 == 0);
	give_back(s, 0, 2);
	CU_ASSERT_EQUAL(still_filled(s), 0);
}

/* One stack makes a slab of this size, so indexes alone are neighbours. */
static void stacks_of_two_slabs_are_no_neighbours(void)
{
	struct wefti_stack s[2] = { take(64 * 1024 * KB, 4096),
				    take(64 * 1024 * KB, 4096) };
	uint32_t index[2] = { s[1].index, s[0].index };

	CU_ASSERT_EQUAL(s[1].index, s[0].index + 1);
	((char *)s[0].low)[0] = ((char *)s[1].low)[0] = 1;
	calls = 0;
	wefti_stack_give_back(index, 2);
	CU_ASSERT_EQUAL(calls, 2);
	CU_ASSERT_EQUAL(((char *)s[0].low)[0] + ((char *)s[1].low)[0], 0);
}

static void one_that_is_locked_keeps_no_other(void)
{
	struct wefti_stack s[MANY];

	take_many(s, 16 * KB, 4096);
	locked = s[MANY / 2].low;
	give_back(s, 0, 1);
	locked = NULL;
	CU_ASSERT_EQUAL(still_filled(s), 1);
	CU_ASSERT_EQUAL(in_use(), 0);
}

static const struct test_case cases[] = {
	TEST(neighbours_take_one_call_in_each_order),
	TEST(stacks_are_given_again_in_the_order_of_their_addresses),
	TEST(what_lies_between_two_stacks_stays),
	TEST(stacks_of_two_slabs_are_no_neighbours),
	TEST(one_that_is_locked_keeps_no_other),
};

TEST_MAIN("mem/stack_trim", cases)
