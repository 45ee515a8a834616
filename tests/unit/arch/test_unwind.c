/* SPDX-License-Identifier: MIT */
/* test_unwind.c - arch/context: libunwind walks each context to its end */
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

#include "interrupted.h"
#include "pair.h"
#include "support.h"

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

/*
 * The number of frames that libunwind finds from `uc`. flag: 0, or that a
 * signal has interrupted the first one.
 */
static int walk_from(ucontext_t *uc, int flag, uintptr_t *frames, int most)
{
	unw_cursor_t cursor;
	int count = 0;

	if (unw_init_local2(&cursor, (unw_context_t *)uc, flag) != 0)
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

static int walk(ucontext_t *uc, uintptr_t *frames, int most)
{
	return walk_from(uc, 0, frames, most);
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

/* --- the middle of a jump, in which a read faults */

#define PAGE	65536		/* the largest there is */
#define ABOVE	64		/* bytes that belong to others */

static char *page;
static struct {
	int faults, count;
	uintptr_t frame[16];
} fault;

static void on_fault(int number, siginfo_t *info, void *uc)
{
	(void)number;
	(void)info;
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	fault.faults++;
	fault.count = walk_from(uc, UNW_INIT_SIGNAL_FRAME, fault.frame, 16);
}

/* What is above a stack looks like return addresses. */
static void *top_with_others_above(void)
{
	char *top = (char *)top_of_stack() - ABOVE;

	for (int i = 0; i < ABOVE; i += (int)sizeof(uintptr_t))
		*(uintptr_t *)(void *)(top + i) = (uintptr_t)outer + 8;
	return top;
}

static struct wefti_context *context_in_page(void)
{
	struct wefti_context *to = (void *)page;

	*to = here;
	mprotect(page, PAGE, PROT_NONE);
	return to;
}

static struct wefti_arch_next jumps(void *value)
{
	(void)value;
	wefti_arch_jump(context_in_page(), NULL);
}

static struct wefti_arch_next returns(void *value)
{
	(void)value;
	return (struct wefti_arch_next){ context_in_page(), NULL };
}

static struct wefti_arch_next goes_home(void *value)
{
	(void)value;
	return (struct wefti_arch_next){ &here, NULL };
}

/* Its first frame is in the page, which is the stack of the next. */
static struct wefti_arch_next jumps_into_page(void *value)
{
	static struct wefti_context next;

	(void)value;
	wefti_arch_context_init(&next, page + PAGE, goes_home);
	mprotect(page, PAGE, PROT_NONE);
	wefti_arch_jump(&next, NULL);
}

static void run_in_context(wefti_arch_entry_fn *fn, int is_started)
{
	fault.faults = fault.count = 0;
	if (is_started) {
		wefti_arch_start(&here, top_with_others_above(), fn, NULL);
	} else {
		wefti_arch_context_init(&there, top_with_others_above(), fn);
		swap_to_there(NULL);
	}
	CU_ASSERT_EQUAL(fault.faults, 1);
	CU_ASSERT_TRUE(fault.count >= 1 && fault.count <= 4);
}

static int frames_in(wefti_arch_entry_fn *function, size_t bytes)
{
	int found = 0;

	for (int i = 0; i < fault.count; i++)
		found += is_in(fault.frame[i], function, bytes);
	return found;
}

static void a_jump_can_be_walked_in_its_middle(void)
{
	static char signal_stack[4 * PAGE];
	const stack_t on = { .ss_sp = signal_stack, .ss_size = 4 * PAGE };
	const stack_t off = { .ss_flags = SS_DISABLE };
	struct sigaction act = { .sa_flags = SA_SIGINFO | SA_ONSTACK }, old;

	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(page != MAP_FAILED);
	act.sa_sigaction = on_fault;
	sigaltstack(&on, NULL);
	sigaction(SIGSEGV, &act, &old);
	for (int started = 0; started < 2; started++) {
		run_in_context(jumps, started);
		CU_ASSERT_EQUAL(frames_in(jumps, 128), 1);
		/* Nobody has called it, and what is above is not read. */
		run_in_context(returns, started);
		CU_ASSERT_EQUAL(frames_in(outer, 64), 0);
		run_in_context(jumps_into_page, started);
		CU_ASSERT_EQUAL(frames_in(outer, 64), 0);
	}
	sigaction(SIGSEGV, &old, NULL);
	sigaltstack(&off, NULL);
	munmap(page, PAGE);
}

static const struct test_case cases[] = {
	TEST(parked_context_can_be_walked_to_its_end),
	TEST(started_context_can_be_walked_to_its_end),
	TEST(context_that_never_ran_can_be_walked),
	TEST(running_context_can_be_walked_to_its_end),
	TEST(a_jump_can_be_walked_in_its_middle),
};

TEST_MAIN("arch/unwind", cases)
