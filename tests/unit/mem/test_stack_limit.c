/* SPDX-License-Identifier: MIT */
/* test_stack_limit.c - mem/stack: guards by mprotect, and their limit */
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "mem/stack_trim.h"
#include "os/call/vm.h"
#include "probe.h"
#include "refusals.h"

static int by_mprotect(size_t n)
{
	struct wefti_stack_stat stat;
	struct wefti_stack s[100], found;

	no_guards = 1;
	for (size_t i = 0; i < n; i++) {
		must(wefti_stack_alloc(32 * KB, 4096, &s[i]) == 0);
		is_whole(&s[i], wefti_os_page_size());
		must(wefti_stack_of((char *)s[i].low - 1, &found) ==
		     WEFTI_STACK_GUARD);
		must(found.index == s[i].index);
	}
	wefti_stack_stat(&stat);
	must(stat.guarded == n && stat.vmas_most == 1 + 2 * n);
	must(holdings_lines("/proc/self/maps") >= n);
	for (size_t i = 0; i < n; i++) {
		wefti_stack_give_back(&s[i].index, 1);
		must(((char *)s[i].low)[0] == 0);
		must(!can_read((char *)s[i].low - 1));
	}
	return 0;
}

static void stack_has_guards_by_mprotect_where_the_kernel_is_old(void)
{
	in_child(by_mprotect, 100);
	CU_ASSERT_STRING_EQUAL(said, "");
}

/* Some stacks have a mark of the kernel's; then it takes no more of them. */
static int changing_mind(size_t n)
{
	struct wefti_stack a, b;

	(void)n;
	must(wefti_stack_alloc(32 * KB, 4096, &a) == 0);
	no_guards = 1;
	must(wefti_stack_alloc(32 * KB, 4096, &b) == 0);
	is_whole(&a, wefti_os_page_size());
	is_whole(&b, wefti_os_page_size());
	wefti_stack_free(&b);
	wefti_stack_free(&a);
	/* a has the kernel's mark, and is wanted with a mapping instead. */
	must(wefti_stack_alloc(32 * KB, 0, &a) == 0);
	is_whole(&a, 0);
	wefti_stack_free(&a);
	must(wefti_stack_alloc(32 * KB, 4096, &a) == 0);
	is_whole(&a, wefti_os_page_size());
	wefti_stack_free(&a);
	return 0;
}

static void stack_changes_from_one_kind_of_guard_to_the_other(void)
{
	in_child(changing_mind, 0);
	CU_ASSERT_STRING_EQUAL(said, "");
}

static int at_the_limit(size_t n)
{
	struct wefti_stack s[6];

	no_guards = 1;
	for (size_t i = 0; i < n; i++)
		must(wefti_stack_alloc(32 * KB, 4096, &s[i]) == 0);
	fail_at = 1;
	fail_count = 2;
	must(wefti_stack_alloc(32 * KB, 4096, &s[n]) == -EAGAIN);
	must(wefti_stack_alloc(32 * KB, 4096, &s[n]) == -EAGAIN);
	/* The rest goes on. */
	must(wefti_stack_alloc(32 * KB, 0, &s[n]) == 0);
	wefti_stack_free(&s[n]);
	must(wefti_stack_alloc(32 * KB, 4096, &s[n]) == 0);
	must(stacks_in_use() == n + 1);
	return 0;
}

/* 64 MiB are a slab of one: a stack that got lost would show. */
static int guard_refused(size_t n)
{
	struct wefti_stack_stat stat;
	struct wefti_stack s;

	no_guards = (int)n;
	for (size_t tries = 3; tries > 0; tries--) {
		/* The first try makes a slab and its records before. */
		fail_at = tries == 3 ? 3 : 1;
		must(wefti_stack_alloc(64 * MB, 4096, &s) < 0);
		wefti_stack_stat(&stat);
		must(stat.stacks == 1 && stat.in_use == 0);
	}
	must(wefti_stack_alloc(64 * MB, 4096, &s) == 0);
	is_whole(&s, wefti_os_page_size());
	wefti_stack_stat(&stat);
	must(stat.stacks == 1 && stat.in_use == 1);
	return 0;
}

static void stack_is_idle_again_when_its_guard_was_refused(void)
{
	in_child(guard_refused, 0);
	in_child(guard_refused, 1);
}

static void stack_says_eagain_at_the_limit_and_once_why(void)
{
	char *line;

	in_child(at_the_limit, 5);
	line = strstr(said, "weft: no more stacks: 5 have a guard");
	CU_ASSERT_PTR_NOT_NULL_FATAL(line);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "6.13"));
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "vm.max_map_count"));
	CU_ASSERT_PTR_EQUAL(strchr(said, '\n'), said + strlen(said) - 1);
}

static size_t map_limit(void)
{
	FILE *f = fopen("/proc/sys/vm/max_map_count", "r");
	size_t n = 0;

	if (f && fscanf(f, "%zu", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

/* No wrapper says no: the kernel itself does. */
static int really_at_the_limit(size_t most)
{
	struct wefti_stack last, s;
	size_t n = 0;
	int error;

	no_guards = 1;
	while ((error = wefti_stack_alloc(16 * KB, 4096, &s)) == 0) {
		must(++n < most);
		last = s;
	}
	must(error == -EAGAIN);
	must(n > most / 3 && stacks_in_use() == n);
	is_whole(&last, 0);
	wefti_stack_free(&last);
	must(wefti_stack_alloc(16 * KB, 4096, &s) == 0);
	return 0;
}

static void stack_finds_the_real_limit(void)
{
	size_t limit = map_limit();

	/* Sanitizers map as well, and end the program where they cannot. */
#if defined(WEFT_ASAN) || defined(WEFT_TSAN)
	limit = 0;
#endif
	if (limit == 0 || limit > 200000) {
		puts("    not tested: no limit that can be reached here");
		return;
	}
	in_child(really_at_the_limit, limit);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "weft: no more stacks: "));
	CU_ASSERT_PTR_EQUAL(strchr(said, '\n'), said + strlen(said) - 1);
}

static const struct test_case cases[] = {
	TEST(stack_has_guards_by_mprotect_where_the_kernel_is_old),
	TEST(stack_changes_from_one_kind_of_guard_to_the_other),
	TEST(stack_is_idle_again_when_its_guard_was_refused),
	TEST(stack_says_eagain_at_the_limit_and_once_why),
	TEST(stack_finds_the_real_limit),
};

TEST_MAIN("mem/stack_limit", cases)
