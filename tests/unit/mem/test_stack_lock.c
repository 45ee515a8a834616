/* SPDX-License-Identifier: MIT */
/* test_stack_lock.c - mem/stack_lock: which stacks mlockall() keeps in memory */
#include "mem/stack_lock.h"

#include <stdio.h>
#include <sys/mman.h>

#include "mem/stack.h"
#include "support.h"

#define KB	((size_t)1024)

static long locked_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmLck: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

/* Refused without the right to lock so much. Sanitizers make it do nothing. */
static int lock_all(int flags)
{
#ifdef TEST_IS_SANITIZED
	(void)flags;
	return 0;
#else
	return mlockall(flags) == 0;
#endif
}

static void idle_stacks_are_unlocked_and_held_ones_are_not(void)
{
	struct wefti_stack held, idle;
	long all, rest;

	CU_ASSERT_EQUAL_FATAL(wefti_stack_alloc(256 * KB, 4096, &held), 0);
	CU_ASSERT_EQUAL_FATAL(wefti_stack_alloc(256 * KB, 4096, &idle), 0);
	wefti_stack_free(&idle);
	if (lock_all(MCL_CURRENT)) {
		all = locked_kib();
		wefti_stack_unlock_idle();
		rest = locked_kib();
		CU_ASSERT(rest >= 256);
		CU_ASSERT(all - rest >= 63 * 1024);
		munlockall();
	}
	wefti_stack_free(&held);
}

/* A slab is one stack, and all its memory is there at once. */
static void new_slabs_are_small_where_new_memory_is_locked(void)
{
	struct wefti_stack_stat before, after;
	struct wefti_stack s;

	wefti_stack_stat(&before);
	if (!lock_all(MCL_FUTURE))
		return;
	CU_ASSERT_EQUAL_FATAL(wefti_stack_alloc(512 * KB, 4096, &s), 0);
	wefti_stack_stat(&after);
	CU_ASSERT_EQUAL(after.stacks - before.stacks, 1);
	munlockall();
	wefti_stack_free(&s);
}

static const struct test_case cases[] = {
	TEST(idle_stacks_are_unlocked_and_held_ones_are_not),
	TEST(new_slabs_are_small_where_new_memory_is_locked),
};

TEST_MAIN("mem/stack_lock", cases)
