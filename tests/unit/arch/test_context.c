/* SPDX-License-Identifier: MIT */
/*
 * test_context.c - arch/context: what a switch keeps
 */
#include <stdint.h>

#include "cpu.h"
#include "pair.h"
#include "support.h"

static struct wefti_arch_next echo(void *value)
{
	for (;;)
		value = swap_to_here((char *)value + 1);
	return NOWHERE;
}

static void switch_passes_a_value_each_way(void)
{
	wefti_arch_context_init(&there, top_of_stack(), echo);
	for (uintptr_t i = 1; i < 1000; i++)
		CU_ASSERT_EQUAL((uintptr_t)swap_to_there((void *)i), i + 1);
}

static struct wefti_arch_next note_alignment(void *value)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	/* By both ABIs a frame's own record lies at a multiple of 16. */
	for (;;)
		swap_to_here((void *)(frame % 16 + (uintptr_t)value));
	return NOWHERE;
}

static void first_frame_is_aligned_whatever_the_top_is(void)
{
	for (int skew = 0; skew < 16; skew++) {
		wefti_arch_context_init(&there, stack + STACK_BYTES - skew,
					note_alignment);
		CU_ASSERT_EQUAL((uintptr_t)swap_to_there(NULL), 0);
		CU_ASSERT_EQUAL((uintptr_t)wefti_arch_start(&here,
			stack + STACK_BYTES - skew, note_alignment, NULL), 0);
	}
}

/* One value after the other, which the volatile loads keep the compiler from reloading. */
#define EACH_VALUE(do)							\
	do(0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9)	\
	do(10) do(11) do(12) do(13)
#define FILL(i)		uintptr_t n##i = in[i]; double x##i = (double)in[14 + (i)];
#define IN_PLACE(i)	__asm__ volatile("" : "+r" (n##i));
#define IS_SAME(i)	&& n##i == in[i] && x##i == (double)in[14 + (i)]

/*
 * Fills each callee-saved register with a number of `seed`, then checks. The CPUs have at
 * most 12 such registers of each kind, so there are more values than registers.
 */
#define KEEP(name, out_and_back)					\
__attribute__((noinline)) static int name(uintptr_t seed)		\
{									\
	volatile uintptr_t in[28];					\
									\
	for (int i = 0; i < 28; i++)					\
		in[i] = seed * 31 + (uintptr_t)i;			\
	EACH_VALUE(FILL)						\
	EACH_VALUE(IN_PLACE)						\
	out_and_back;							\
	EACH_VALUE(IN_PLACE)						\
	return 1 EACH_VALUE(IS_SAME);					\
}

KEEP(keep_there, swap_to_here(NULL))
KEEP(keep_here, swap_to_there(NULL))

static int kept_there = 1;

static struct wefti_arch_next keeper(void *value)
{
	(void)value;
	for (uintptr_t i = 0;; i++)
		kept_there = kept_there && keep_there(i * 77 + 5);
	return NOWHERE;
}

static void switch_keeps_callee_saved_registers(void)
{
	int kept_here = 1;

	wefti_arch_context_init(&there, top_of_stack(), keeper);
	for (uintptr_t i = 0; i < 1000; i++)
		kept_here = kept_here && keep_here(i);
	CU_ASSERT(kept_here);
	CU_ASSERT(kept_there);
}

/* Rounding modes by hand: fesetround() would be all that we need of libm. */
#define NEAREST		0
#ifdef __x86_64__
#define DOWNWARD	1	/* as in both of the control words */
#define UPWARD		2

static void set_x87(uint16_t word)
{
	__asm__ volatile("fldcw %0" :: "m" (word));
}

static uint16_t x87(void)
{
	uint16_t word;

	__asm__ volatile("fnstcw %0" : "=m" (word));
	return word;
}

static void set_mxcsr(uint32_t word)
{
	__asm__ volatile("ldmxcsr %0" :: "m" (word));
}

static uint32_t mxcsr(void)
{
	uint32_t word;

	__asm__ volatile("stmxcsr %0" : "=m" (word));
	return word;
}

static void set_rounding(int mode)
{
	set_x87((uint16_t)((x87() & ~0x0c00) | mode << 10));
	set_mxcsr((mxcsr() & ~0x6000u) | (uint32_t)mode << 13);
}

/* -1 if the two do not agree. */
static int rounding(void)
{
	int mode = x87() >> 10 & 3;

	return (int)(mxcsr() >> 13 & 3) == mode ? mode : -1;
}
#elif defined(__riscv)
#define DOWNWARD	2
#define UPWARD		3

static void set_rounding(int mode)
{
	__asm__ volatile("fsrm %0" :: "r" (mode));
}

static int rounding(void)
{
	int mode;

	__asm__ volatile("frrm %0" : "=r" (mode));
	return mode;
}
#else
#define DOWNWARD	2
#define UPWARD		1

static void set_rounding(int mode)
{
	uint64_t fpcr;

	__asm__ volatile("mrs %0, fpcr" : "=r" (fpcr));
	fpcr = (fpcr & ~((uint64_t)3 << 22)) | (uint64_t)mode << 22;
	__asm__ volatile("msr fpcr, %0" :: "r" (fpcr));
}

static int rounding(void)
{
	uint64_t fpcr;

	__asm__ volatile("mrs %0, fpcr" : "=r" (fpcr));
	return (int)(fpcr >> 22 & 3);
}
#endif

/* The other side runs with another rounding mode than ours. */
static struct wefti_arch_next rounder(void *value)
{
	for (;;) {
		set_rounding((int)(intptr_t)value);
		value = swap_to_here((void *)(intptr_t)rounding());
		if (rounding() == NEAREST)
			value = swap_to_here((void *)(intptr_t)-1);
	}
	return NOWHERE;
}

static void rounding_mode_stays_with_its_context(void)
{
	volatile double one = 1, three = 3;
	const double nearest = one / three;

	wefti_arch_context_init(&there, top_of_stack(), rounder);
	for (int i = 0; i < 10; i++) {
		int mode = i % 2 ? UPWARD : DOWNWARD;

		CU_ASSERT_EQUAL(swap_to_there((void *)(intptr_t)mode),
				(void *)(intptr_t)mode);
		CU_ASSERT_EQUAL(rounding(), NEAREST);
		CU_ASSERT(one / three == nearest);
	}
}

#ifdef __x86_64__
/* Each control word alone, so that each of the two paths is gone through. */
static struct wefti_arch_next word_setter(void *value)
{
	for (uint16_t i = 0;; i++) {
		uint16_t word = (uint16_t)(0x037f & ~(i & 1 ? 0x300 : 0));
		uint32_t flush = 0x1f80u | (i & 2 ? 0x8040u : 0);

		set_x87(word);
		set_mxcsr(flush);
		(void)value;
		value = swap_to_here(NULL);
		if (x87() != word || mxcsr() != flush)
			value = swap_to_here((void *)1);
	}
	return NOWHERE;
}

static void each_control_word_stays_with_its_context(void)
{
	const uint16_t word = x87();
	const uint32_t control = mxcsr();
	int kept = 1;

	wefti_arch_context_init(&there, top_of_stack(), word_setter);
	for (int i = 0; i < 16; i++) {
		kept = kept && swap_to_there(NULL) == NULL;
		kept = kept && x87() == word && mxcsr() == control;
	}
	CU_ASSERT(kept);
}
#define CPU_TESTS	TEST(each_control_word_stays_with_its_context),
#elif defined(__riscv)
static uint64_t flags(void)
{
	uint64_t raised;

	__asm__ volatile("frflags %0" : "=r" (raised));
	return raised;
}

static struct wefti_arch_next flag_raiser(void *value)
{
	for (;;) {
		__asm__ volatile("fsflags %0" :: "r" (value));
		swap_to_here(NULL);
		value = swap_to_here((void *)flags());
	}
	return NOWHERE;
}

/* The flags of floating-point exceptions are in the same register as the mode. */
static void raised_flags_stay_with_their_context(void)
{
	wefti_arch_context_init(&there, top_of_stack(), flag_raiser);
	for (uintptr_t i = 0; i < 32; i++) {
		__asm__ volatile("fsflags %0" :: "r" (31 - i));
		swap_to_there((void *)i);
		CU_ASSERT_EQUAL(flags(), 31 - i);
		CU_ASSERT_EQUAL((uintptr_t)swap_to_there(NULL), i);
		CU_ASSERT_EQUAL(flags(), 31 - i);
	}
	__asm__ volatile("fsflags zero");
}
#define CPU_TESTS	TEST(raised_flags_stay_with_their_context),
#else
#define CPU_TESTS
#endif

static struct wefti_arch_next mode_reporter(void *value)
{
	(void)value;
	for (;;)
		swap_to_here((void *)(intptr_t)rounding());
	return NOWHERE;
}

static void new_context_inherits_the_rounding_mode(void)
{
	set_rounding(UPWARD);
	wefti_arch_context_init(&there, top_of_stack(), mode_reporter);
	set_rounding(NEAREST);
	CU_ASSERT_EQUAL(swap_to_there(NULL), (void *)(intptr_t)UPWARD);
	CU_ASSERT_EQUAL(rounding(), NEAREST);

	set_rounding(DOWNWARD);
	CU_ASSERT_EQUAL(wefti_arch_start(&here, top_of_stack(), mode_reporter,
					 NULL), (void *)(intptr_t)DOWNWARD);
	CU_ASSERT_EQUAL(rounding(), DOWNWARD);
	set_rounding(NEAREST);
}

static struct wefti_arch_next leaver(void *value)
{
	set_rounding(UPWARD);
	wefti_arch_jump(&here, (char *)value + 7);
}

static struct wefti_arch_next returner(void *value)
{
	set_rounding(UPWARD);
	return (struct wefti_arch_next){ &here, (char *)value + 7 };
}

static void entry_that_returns_goes_on_where_it_says(void)
{
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(wefti_arch_start(&here, top_of_stack(),
				returner, (void *)35), (void *)42);
		CU_ASSERT_EQUAL(rounding(), NEAREST);
	}
	wefti_arch_context_init(&there, top_of_stack(), returner);
	CU_ASSERT_EQUAL(swap_to_there((void *)1), (void *)8);
	CU_ASSERT_EQUAL(rounding(), NEAREST);
}

static void jump_restores_and_never_comes_back(void)
{
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(wefti_arch_start(&here, top_of_stack(), leaver,
						 (void *)35), (void *)42);
		CU_ASSERT_EQUAL(rounding(), NEAREST);
	}
	wefti_arch_context_init(&there, top_of_stack(), leaver);
	CU_ASSERT_EQUAL(swap_to_there((void *)1), (void *)8);
	CU_ASSERT_EQUAL(rounding(), NEAREST);
}

static void self_word_is_set_and_read(void)
{
	struct wefti_thread *const before = wefti_self();
	uintptr_t word = wefti_arch_tp_get() + wefti_self_offset();

	wefti_self_set((struct wefti_thread *)&here);
	CU_ASSERT_PTR_EQUAL(wefti_self(), &here);
	CU_ASSERT_PTR_EQUAL(*(void **)word, &here);
	CU_ASSERT_PTR_EQUAL(wefti_tls_self, &here);
	*(void **)word = &there;
	CU_ASSERT_PTR_EQUAL(wefti_self(), &there);
	wefti_self_set(before);
}

static void thread_pointer_is_written_both_ways(void)
{
	uintptr_t tp;

	wefti_arch_init();
	tp = wefti_arch_tp_get();
	wefti_arch_tp_set(tp);
	CU_ASSERT_EQUAL(wefti_arch_tp_get(), tp);
#ifdef __x86_64__
	const int fast = wefti_arch_fsgsbase;

	wefti_arch_fsgsbase = 0;
	wefti_arch_tp_set(tp);
	wefti_arch_fsgsbase = fast;
	CU_ASSERT_EQUAL(wefti_arch_tp_get(), tp);
#endif
}

static const struct test_case cases[] = {
	TEST(switch_passes_a_value_each_way),
	TEST(first_frame_is_aligned_whatever_the_top_is),
	TEST(switch_keeps_callee_saved_registers),
	TEST(rounding_mode_stays_with_its_context),
	CPU_TESTS
	TEST(new_context_inherits_the_rounding_mode),
	TEST(entry_that_returns_goes_on_where_it_says),
	TEST(jump_restores_and_never_comes_back),
	TEST(self_word_is_set_and_read),
	TEST(thread_pointer_is_written_both_ways),
};

TEST_MAIN("arch/context", cases)
