/* SPDX-License-Identifier: MIT */
/*
 * test_code_on_stack.c - os/code_on_stack: which files ask for code on stacks
 */
#include "os/object/code_on_stack.h"

#include "../module.h"

static void a_program_asks_when_one_of_its_libraries_does(void)
{
	char path[PATH_MAX];
	void *module;

	CU_ASSERT_EQUAL(wefti_os_code_on_stack(), 0);
	if (module_path("../../pthread/code_on_stack_module.so", path,
			sizeof(path)) != 0)
		return;		/* the compiler makes none */
	module = dlopen(path, RTLD_NOW);
	if (!module)
		return;		/* libc loads none later */
	CU_ASSERT_EQUAL(wefti_os_code_on_stack(), 1);
	CU_ASSERT_EQUAL(dlclose(module), 0);
	CU_ASSERT_EQUAL(wefti_os_code_on_stack(), 0);
}

static const struct test_case cases[] = {
	TEST(a_program_asks_when_one_of_its_libraries_does),
};

TEST_MAIN("os/code_on_stack", cases)
