/* SPDX-License-Identifier: MIT */
/* test_loaded.c - os/loaded: what the program and its libraries export */
#include "os/libc/loaded.h"

#include "../module.h"

static int number_of(const char *first, const char *second)
{
	const char *const names[] = { first, second };

	return wefti_os_loaded_exports(names, 2);
}

static void what_a_library_exports_is_seen(void)
{
	CU_ASSERT_EQUAL(number_of("getpid", "no_such_function"), 0);
	CU_ASSERT_EQUAL(number_of("no_such_function", "getpid"), 1);
	CU_ASSERT_EQUAL(number_of("__tls_get_addr", "getpid"), 0);
	CU_ASSERT_EQUAL(number_of("no_such_function", "nor_this"), -1);
	CU_ASSERT_EQUAL(wefti_os_loaded_exports(NULL, 0), -1);
}

static void what_is_loaded_later_is_seen_too(void)
{
	char path[PATH_MAX];
	void *module;

	CU_ASSERT_EQUAL(number_of("weft_test_call", "weft_test_call_named"), -1);
	CU_ASSERT_EQUAL_FATAL(module_path("bound_module.so", path, sizeof(path)), 0);
	module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	CU_ASSERT_EQUAL(number_of("weft_test_call", "weft_test_call_named"), 0);
	CU_ASSERT_EQUAL(dlclose(module), 0);
}

static const struct test_case cases[] = {
	TEST(what_a_library_exports_is_seen),
	TEST(what_is_loaded_later_is_seen_too),
};

TEST_MAIN("os/loaded", cases)
