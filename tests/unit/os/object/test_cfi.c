/* SPDX-License-Identifier: MIT */
/* test_cfi.c - os/cfi: one step, from a function to its caller */
#include "os/object/cfi.h"

#include <errno.h>
#include <ucontext.h>

#include "base/compiler.h"
#include "interrupted.h"
#include "os/object/objects.h"
#include "os/object/unwind.h"
#include "support.h"

static uintptr_t caller_pc, caller_sp;

static void take(struct wefti_cfi_frame *f, const ucontext_t *uc)
{
	f->pc = wefti_arch_ucontext_pc(uc);
	for (int i = 0; i < WEFTI_ARCH_UNWIND_REGISTERS; i++)
		CU_ASSERT_EQUAL(wefti_arch_register(uc, i, &f->reg[i]), 0);
}

/* Again with what it remembers of the first time. */
NOINLINE static void step_from_here(void)
{
	struct wefti_cfi_frame first, again;
	ucontext_t uc;

	CU_ASSERT_EQUAL(getcontext(&uc), 0);
	take(&first, &uc);
	again = first;
	CU_ASSERT_EQUAL(wefti_os_cfi_step(&first, first.pc), 0);
	CU_ASSERT_EQUAL(wefti_os_cfi_step(&again, again.pc), 0);
	CU_ASSERT_EQUAL(first.pc, again.pc);
	caller_pc = first.pc;
	caller_sp = first.reg[WEFTI_ARCH_NUMBER_SP];
	CU_ASSERT_EQUAL(caller_sp, again.reg[WEFTI_ARCH_NUMBER_SP]);
}

static void a_step_leads_to_the_caller(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	wefti_os_objects_read();
	wefti_os_unwind_begin();
	step_from_here();
	CU_ASSERT_TRUE(caller_pc > (uintptr_t)a_step_leads_to_the_caller &&
		       caller_pc < (uintptr_t)a_step_leads_to_the_caller + 4096);
	CU_ASSERT_TRUE(caller_sp - here < 4096 || here - caller_sp < 4096);
}

static void where_no_table_has_it_there_is_none(void)
{
	struct wefti_cfi_frame f = { 0 };
	int here = 0;

	wefti_os_objects_read();
	wefti_os_unwind_begin();
	CU_ASSERT_EQUAL(wefti_os_cfi_step(&f, (uintptr_t)&here), -ENOENT);
	CU_ASSERT_EQUAL(wefti_os_cfi_step(&f, 1), -ENOENT);
	/* A function of ours whose stack cannot be read. */
	CU_ASSERT_EQUAL(wefti_os_cfi_step(&f, (uintptr_t)step_from_here + 64), -EINVAL);
}

static const struct test_case cases[] = {
	TEST(a_step_leads_to_the_caller),
	TEST(where_no_table_has_it_there_is_none),
};

TEST_MAIN("os/cfi", cases)
