/* SPDX-License-Identifier: MIT */
/* test_process_stack.c - os/process_stack: what libc finds, found without it */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#include "os/libc/process_stack.h"
#include "support.h"

static uintptr_t low, high, libc_low, libc_high;

/* libc's ends a page or more below the highest address, where it began. */
static void look(void)
{
	const void *found;
	size_t bytes;
	pthread_attr_t attr;
	void *start;

	wefti_os_process_stack(&found, &bytes);
	low = (uintptr_t)found;
	high = low + bytes;
	CU_ASSERT_EQUAL_FATAL(pthread_getattr_np(pthread_self(), &attr), 0);
	pthread_attr_getstack(&attr, &start, &bytes);
	pthread_attr_destroy(&attr);
	libc_low = (uintptr_t)start;
	libc_high = libc_low + bytes;
}

static void check(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	look();
	CU_ASSERT_EQUAL(low, libc_low);
	CU_ASSERT(high >= libc_high);
	CU_ASSERT(low < here && here < high);
}

static void first_thread_has_what_libc_finds_at_any_limit(void)
{
	const rlim_t sizes[] = { 256 << 10, (512 << 10) + 1, 4 << 20, 1 << 30 };
	struct rlimit before, limit;

	CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_STACK, &before), 0);
	check();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		limit = before;
		limit.rlim_cur = sizes[i];
		if (setrlimit(RLIMIT_STACK, &limit) == 0)
			check();
	}
	limit = before;
	limit.rlim_cur = before.rlim_max;
	if (setrlimit(RLIMIT_STACK, &limit) == 0)
		check();
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_STACK, &before), 0);
}

/* The kernel's copy of the program's name is the program's to write to. */
static void overwritten_name_does_not_move_the_stack(void)
{
	char *name = (char *)getauxval(AT_EXECFN);
	const size_t length = name ? strlen(name) : 0;

	if (!length)
		return;
	for (size_t i = 0; i < length; i++) {
		const char before = name[i];

		name[i] = '\0';
		check();
		name[i] = before;
	}
	check();
}

static void *check_there(void *unused)
{
	(void)unused;
	check();
	CU_ASSERT_EQUAL(high, libc_high);
	return NULL;
}

static void other_kernel_thread_has_its_own(void)
{
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, check_there, NULL),
			      0);
	pthread_join(thread, NULL);
}

static const struct test_case cases[] = {
	TEST(first_thread_has_what_libc_finds_at_any_limit),
	TEST(overwritten_name_does_not_move_the_stack),
	TEST(other_kernel_thread_has_its_own),
};

TEST_MAIN("os/process_stack", cases)
