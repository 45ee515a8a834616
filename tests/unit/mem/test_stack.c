/* SPDX-License-Identifier: MIT */
/* test_stack.c - mem/stack: sizes, guards, reuse, the stack of an address */
#include "mem/stack.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "mem/stack_trim.h"
#include "os/call/vm.h"
#include "take.h"

static void stack_class_holds_the_size_and_half_would_not(void)
{
	const size_t page = wefti_os_page_size();

	for (size_t bytes = 16 * KB; bytes <= 1024 * 1024 * KB;
	     bytes += bytes / 3) {
		int class = wefti_stack_class(bytes);

		CU_ASSERT_FATAL(class >= 0 && class < WEFTI_STACK_CLASSES);
		CU_ASSERT_TRUE(WEFTI_STACK_LEAST << class >= bytes);
		CU_ASSERT_TRUE(class == 0 ||
			       WEFTI_STACK_LEAST << (class - 1) < bytes ||
			       WEFTI_STACK_LEAST << (class - 1) < page);
	}
	CU_ASSERT_EQUAL(wefti_stack_class(64 * KB),
			wefti_stack_class(33 * KB));
	CU_ASSERT_EQUAL(wefti_stack_class(WEFTI_STACK_MOST), 16);
}

static void stack_refuses_sizes_out_of_range(void)
{
	static const size_t tries[][2] = {
		{ 0, 0 }, { 16 * KB - 1, 4 * KB },
		{ WEFTI_STACK_MOST + 1, 0 }, { SIZE_MAX, 0 },
		{ 64 * KB, WEFTI_STACK_MOST + 1 }, { 64 * KB, SIZE_MAX },
		{ WEFTI_STACK_MOST, 1024 * KB }, { 1, 1024 * KB },
	};
	struct wefti_stack untouched = { .index = 77 };
	size_t before = in_use();

	CU_ASSERT_EQUAL(wefti_stack_class(16 * KB - 1), -EINVAL);
	CU_ASSERT_EQUAL(wefti_stack_class(WEFTI_STACK_MOST + 1), -EINVAL);
	CU_ASSERT_EQUAL(wefti_stack_class(SIZE_MAX), -EINVAL);
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
		CU_ASSERT_EQUAL(wefti_stack_alloc(tries[i][0], tries[i][1],
						  &untouched), -EINVAL);
	CU_ASSERT_EQUAL(untouched.index, 77);
	CU_ASSERT_EQUAL(in_use(), before);
}

static void stack_of_each_class_is_usable_from_low_to_top(void)
{
	for (size_t bytes = 16 * KB; bytes <= WEFTI_STACK_MOST; bytes *= 2) {
		struct wefti_stack s = take(bytes, 4096);
		char *low = s.low, *top = s.top;

		CU_ASSERT_EQUAL((int)s.class, wefti_stack_class(bytes));
		CU_ASSERT_TRUE(bytes_of(&s) >= bytes);
		CU_ASSERT_EQUAL((uintptr_t)top % wefti_os_page_size(), 0);
		low[0] = low[bytes_of(&s) / 2] = top[-1] = 1;
		CU_ASSERT_FALSE(can_read(low - 1));
		wefti_stack_give_back(&s.index, 1);
	}
}

static void stack_guard_ends_the_program(void)
{
	struct wefti_stack s = take(64 * KB, 4096);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		signal(SIGSEGV, SIG_DFL);
		*((volatile char *)s.low - 1) = 1;
		_exit(0);
	}
	CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_TRUE(WIFSIGNALED(status));
	CU_ASSERT_EQUAL(WTERMSIG(status), SIGSEGV);
	wefti_stack_free(&s);
}

static void stack_has_the_guard_that_was_asked_for(void)
{
	size_t page = wefti_os_page_size();
	struct wefti_stack none = take(128 * KB, 0);
	struct wefti_stack byte = take(128 * KB, 1);
	struct wefti_stack big = take(128 * KB, 256 * KB);

	CU_ASSERT_TRUE(can_read(none.low));
	CU_ASSERT_TRUE(bytes_of(&none) >= 128 * KB);
	CU_ASSERT_EQUAL((char *)none.top - (char *)none.low,
			(ptrdiff_t)((WEFTI_STACK_LEAST << none.class) + page));

	CU_ASSERT_FALSE(can_read((char *)byte.low - 1));
	CU_ASSERT_FALSE(can_read((char *)byte.low - page));
	CU_ASSERT_TRUE(bytes_of(&byte) >= 128 * KB);
	CU_ASSERT_EQUAL(bytes_of(&byte) + page, bytes_of(&none));

	/* A large guard takes nothing from the stack. */
	CU_ASSERT_TRUE(bytes_of(&big) >= 128 * KB);
	CU_ASSERT_FALSE(can_read((char *)big.low - 1));
	CU_ASSERT_FALSE(can_read((char *)big.low - 256 * KB));
	CU_ASSERT_TRUE(can_read(big.low));

	wefti_stack_free(&none);
	wefti_stack_free(&byte);
	wefti_stack_free(&big);
}

static void stack_that_is_reused_gets_another_guard(void)
{
	/* A class that no other case uses: the same stack each time. */
	static const size_t guards[] = { 4 * KB, 0, 64 * KB, 4 * KB, 128 * KB,
					 64 * KB, 0, 4 * KB };
	size_t page = wefti_os_page_size();
	uint32_t index = 0;

	for (size_t i = 0; i < sizeof(guards) / sizeof(guards[0]); i++) {
		/* Large guards are added, so that all are one class. */
		struct wefti_stack s = take(guards[i] > page ?
				1024 * KB - guards[i] : 1024 * KB, guards[i]);
		char *end = (char *)s.top - 1024 * KB - page;
		size_t guard = (guards[i] + page - 1) / page * page;

		CU_ASSERT_TRUE(i == 0 || s.index == index);
		index = s.index;
		CU_ASSERT_PTR_EQUAL(s.low, end + guard);
		for (char *p = end; p < (char *)s.low; p += page)
			CU_ASSERT_FALSE(can_read(p));
		for (char *p = s.low; p < (char *)s.top; p += page)
			CU_ASSERT_TRUE(can_read(p));
		memset(s.low, 1, bytes_of(&s));
		wefti_stack_free(&s);
	}
}

static void stack_is_given_again_with_its_memory_until_it_is_trimmed(void)
{
	struct wefti_stack s = take(32 * KB, 4096), again;
	volatile char *byte = (char *)s.low + 5;

	*byte = 42;
	wefti_stack_free(&s);
	again = take(32 * KB, 4096);
	CU_ASSERT_PTR_EQUAL(again.low, s.low);
	CU_ASSERT_EQUAL(*byte, 42);
	wefti_stack_give_back(&again.index, 1);
	again = take(32 * KB, 4096);
	CU_ASSERT_PTR_EQUAL(again.low, s.low);
	CU_ASSERT_EQUAL(*byte, 0);
	CU_ASSERT_FALSE(can_read((char *)again.low - 1));
	wefti_stack_free(&again);
}

static void stack_of_tells_stack_guard_and_neither(void)
{
	size_t page = wefti_os_page_size();
	struct wefti_stack s[20], found;
	int on_ours = 0;

	for (size_t i = 0; i < 20; i++)
		s[i] = take(16 * KB << i % 5, i % 4 ? page : 0);
	for (size_t i = 0; i < 20; i++) {
		char *low = s[i].low, *top = s[i].top;
		char *tries[] = { low, low + bytes_of(&s[i]) / 2, top - 1 };

		for (int k = 0; k < 3; k++) {
			CU_ASSERT_EQUAL(wefti_stack_of(tries[k], &found),
					WEFTI_STACK_INSIDE);
			CU_ASSERT_EQUAL(memcmp(&found, &s[i], sizeof(found)),
					0);
		}
		if (i % 4 == 0)
			continue;
		CU_ASSERT_EQUAL(wefti_stack_of(low - 1, &found),
				WEFTI_STACK_GUARD);
		CU_ASSERT_EQUAL(found.index, s[i].index);
		CU_ASSERT_EQUAL(wefti_stack_of(low - page, &found),
				WEFTI_STACK_GUARD);
		CU_ASSERT_EQUAL(found.index, s[i].index);
	}
	found.index = 77;
	CU_ASSERT_EQUAL(wefti_stack_of(&on_ours, &found), WEFTI_STACK_NONE);
	CU_ASSERT_EQUAL(wefti_stack_of(NULL, &found), WEFTI_STACK_NONE);
	CU_ASSERT_EQUAL(wefti_stack_of((void *)UINTPTR_MAX, &found),
			WEFTI_STACK_NONE);
	CU_ASSERT_EQUAL(found.index, 77);
	for (size_t i = 0; i < 20; i++)
		wefti_stack_free(&s[i]);
}

static void free_twice(struct wefti_stack *s)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	signal(SIGABRT, SIG_DFL);
	close(STDERR_FILENO);
	wefti_stack_free(s);
	wefti_stack_free(s);
	_exit(0);
}

static void stack_freed_twice_ends_the_program(void)
{
	struct wefti_stack s = take(16 * KB, 4096);
	int status;
	pid_t pid = fork();

	if (pid == 0)
		free_twice(&s);
	CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_TRUE(WIFSIGNALED(status));
	CU_ASSERT_EQUAL(WTERMSIG(status), SIGABRT);
	wefti_stack_free(&s);
}

static const struct test_case cases[] = {
	TEST(stack_class_holds_the_size_and_half_would_not),
	TEST(stack_refuses_sizes_out_of_range),
	TEST(stack_of_each_class_is_usable_from_low_to_top),
	TEST(stack_guard_ends_the_program),
	TEST(stack_has_the_guard_that_was_asked_for),
	TEST(stack_that_is_reused_gets_another_guard),
	TEST(stack_is_given_again_with_its_memory_until_it_is_trimmed),
	TEST(stack_of_tells_stack_guard_and_neither),
	TEST(stack_freed_twice_ends_the_program),
};

TEST_MAIN("mem/stack", cases)
