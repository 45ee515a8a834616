/* SPDX-License-Identifier: MIT */
/* test_stack_fault.c - mem/stack: each call of the kernel fails once */
#include "os/call/vm.h"
#include "probe.h"
#include "refusals.h"

/* New slab, guard, other guard, none, another class: all calls there are. */
static int use(void)
{
	static const size_t tries[][2] = {
		{ 64 * MB, 4 * KB }, { 64 * MB - 128 * KB, 128 * KB },
		{ 64 * MB, 0 }, { 64 * KB, 4 * KB },
		{ 64 * MB - 64 * KB, 64 * KB }, { 1024 * MB, 0 },
	};
	int error = 0;

	for (size_t i = 0; !error && i < sizeof(tries) / sizeof(tries[0]);
	     i++) {
		size_t page = wefti_os_page_size();
		struct wefti_stack s = { .index = 77 };

		error = wefti_stack_alloc(tries[i][0], tries[i][1], &s);
		must(error == 0 || error == -ENOMEM || error == -EAGAIN);
		if (error) {
			must(s.index == 77 && !s.low && !s.top);
			break;
		}
		is_whole(&s, (tries[i][1] + page - 1) / page * page);
		wefti_stack_free(&s);
	}
	must(stacks_in_use() == 0);
	nothing_leaked();
	return error;
}

/* The nth call fails; afterwards all is well. Returns whether there was one. */
static int fail_nth(size_t n)
{
	fail_at = n;

	int error = use();

	/* Where a smaller slab or another try helps, a failure is no error. */
	must(hit || error == 0);
	fail_at = 0;
	must(use() == 0);
	return hit;
}

static int fail_nth_without_guards(size_t n)
{
	no_guards = 1;
	return fail_nth(n);
}

static void stack_survives_each_failure_of_the_kernel(void)
{
	size_t n = 1;

	while (in_child(fail_nth, n))
		n++;
	printf("    %zu calls failed once\n", n - 1);
	CU_ASSERT_TRUE(n > 8);
	CU_ASSERT_STRING_EQUAL(said, "");

	n = 1;
	while (in_child(fail_nth_without_guards, n))
		n++;
	printf("    %zu calls failed once, with guards by mprotect\n", n - 1);
	CU_ASSERT_TRUE(n > 8);
}

/* All of a slab's sizes are refused: three tries; and so is the table. */
static int fail_for_good(size_t n)
{
	struct wefti_stack s;

	fail_at = n;
	fail_count = 3;
	must(wefti_stack_alloc(64 * KB, 4096, &s) == -ENOMEM);
	must(hit && reserved == 0);
	fail_at = 0;
	must(use() == 0);
	return 0;
}

static void stack_says_enomem_when_there_is_no_address_space(void)
{
	in_child(fail_for_good, 1);
	CU_ASSERT_STRING_EQUAL(said, "");
	in_child(fail_for_good, 2);	/* the slab is there, its records not */
	CU_ASSERT_STRING_EQUAL(said, "");
}

static int small_space(size_t n)
{
	struct wefti_stack s[40];

	(void)n;
	const size_t page = wefti_os_page_size();

	largest = 1 * MB + 16 * page;	/* 256 stacks of 64 KiB are 16 MiB */
	for (int i = 0; i < 40; i++) {
		must(wefti_stack_alloc(64 * KB, 4096, &s[i]) == 0);
		is_whole(&s[i], wefti_os_page_size());
	}
	largest = 256 * KB + page;
	must(wefti_stack_alloc(256 * KB, 4096, &s[0]) == 0);
	must(wefti_stack_alloc(512 * KB, 4096, &s[1]) == -ENOMEM);
	must(stacks_in_use() == 41);
	nothing_leaked();
	return 0;
}

static void stack_slabs_are_small_where_address_space_is(void)
{
	in_child(small_space, 0);
}

static const struct test_case cases[] = {
	TEST(stack_survives_each_failure_of_the_kernel),
	TEST(stack_says_enomem_when_there_is_no_address_space),
	TEST(stack_slabs_are_small_where_address_space_is),
};

TEST_MAIN("mem/stack_fault", cases)
