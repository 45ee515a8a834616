/* SPDX-License-Identifier: MIT */
/* test_unwind.c - arch/context: libunwind walks each context to its end */
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <stdint.h>

#include "context.h"
#include "support.h"

#define STACK_BYTES	(64 * 1024)

/* After a loop without an end. */
#define NOWHERE		((struct wefti_arch_next){ NULL, NULL })

static struct wefti_context here, there;
static char stack[STACK_BYTES] __attribute__((aligned(64)));

static void *top_of_stack(void)
{
	return stack + STACK_BYTES;
}

static void *swap_to_there(void *value)
{
	return wefti_arch_switch(&here, &there, value);
}

static void *swap_to_here(void *value)
{
	return wefti_arch_switch(&there, &here, value);
}

__attribute__((noinline)) static void inner(void)
{
	swap_to_here(NULL);
	__asm__ volatile("");	/* no tail call */
}

__attribute__((noinline)) static struct wefti_arch_next outer(void *value)
{
	(void)value;
	for (;;) {
		inner();
		__asm__ volatile("");
	}
	return NOWHERE;
}

/* The name and the number of frames that libunwind finds from `uc`. */
static int walk(ucontext_t *uc, uintptr_t *frames, int most)
{
	unw_cursor_t cursor;
	int count = 0;

	if (unw_init_local(&cursor, (unw_context_t *)uc) != 0)
		return -1;
	do {
		unw_word_t pc;

		if (count == most)
			return -1;
		unw_get_reg(&cursor, UNW_REG_IP, &pc);
		frames[count++] = (uintptr_t)pc;
	} while (unw_step(&cursor) > 0);
	return count;
}

static int is_in(uintptr_t pc, wefti_arch_entry_fn *function, size_t bytes)
{
	return pc >= (uintptr_t)function && pc < (uintptr_t)function + bytes;
}

/* swap_to_here, inner, outer, entry (where there is one), and the end. */
static void check_walk(int most)
{
	struct wefti_arch_regs regs;
	uintptr_t frames[16];
	ucontext_t uc;
	int count, found = 0;

	wefti_arch_context_regs(&there, &regs);
	CU_ASSERT_EQUAL(regs.sp % 8, 0);
	CU_ASSERT(regs.sp > (uintptr_t)stack &&
		  regs.sp < (uintptr_t)top_of_stack());
	wefti_arch_fill_ucontext(&there, &uc);
	CU_ASSERT_EQUAL(wefti_arch_ucontext_pc(&uc), regs.pc);
	CU_ASSERT_EQUAL(wefti_arch_ucontext_sp(&uc), regs.sp);
	count = walk(&uc, frames, 16);
	CU_ASSERT(count >= 2 && count <= most);
	CU_ASSERT_EQUAL(frames[0], regs.pc);
	for (int i = 0; i < count; i++)
		found += is_in(frames[i], outer, 64);
	CU_ASSERT_EQUAL(found, 1);
}

static void parked_context_can_be_walked_to_its_end(void)
{
	wefti_arch_context_init(&there, top_of_stack(), outer);
	swap_to_there(NULL);
	check_walk(4);
	swap_to_there(NULL);
	check_walk(4);
}

static void started_context_can_be_walked_to_its_end(void)
{
	wefti_arch_start(&here, top_of_stack(), outer, NULL);
	check_walk(4);
	swap_to_there(NULL);
	check_walk(4);
}

static void context_that_never_ran_can_be_walked(void)
{
	uintptr_t frames[16];
	ucontext_t uc;

	wefti_arch_context_init(&there, top_of_stack(), outer);
	wefti_arch_fill_ucontext(&there, &uc);
	CU_ASSERT_EQUAL(walk(&uc, frames, 16), 1);
}

static int walked_inside;

static struct wefti_arch_next walk_from_inside(void *value)
{
	uintptr_t frames[16];
	unw_context_t uc;

	(void)value;
	unw_getcontext(&uc);
	walked_inside = walk((ucontext_t *)&uc, frames, 16);
	return (struct wefti_arch_next){ &here, NULL };
}

static void running_context_can_be_walked_to_its_end(void)
{
	walked_inside = 0;
	wefti_arch_start(&here, top_of_stack(), walk_from_inside, NULL);
	CU_ASSERT(walked_inside >= 1 && walked_inside <= 3);
}

static const struct test_case cases[] = {
	TEST(parked_context_can_be_walked_to_its_end),
	TEST(started_context_can_be_walked_to_its_end),
	TEST(context_that_never_ran_can_be_walked),
	TEST(running_context_can_be_walked_to_its_end),
};

TEST_MAIN("arch/unwind", cases)
