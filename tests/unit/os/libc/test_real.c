/* SPDX-License-Identifier: MIT */
/*
 * test_real.c - os/real: past what a program puts in front of libc's
 *
 * This program has a function of libc's name, and one of a name that libc does
 * not have; the linker exports both (-E).
 */
#include "os/libc/real.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "support.h"

#define EXPORTED	__attribute__((visibility("default"), used))

EXPORTED char *strfry(char *text);
EXPORTED int weft_test_only_here(void);

char *strfry(char *text)
{
	text[0] = '!';
	return text;
}

int weft_test_only_here(void)
{
	return 1;
}

/* That which is found without us, in the order in which all is searched. */
static void *first(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

static void a_function_in_front_of_libcs_is_passed_over(void)
{
	char *(*real)(char *) = (char *(*)(char *))wefti_os_real("strfry");
	char text[] = "aaaa", mine[] = "aaaa";

	CU_ASSERT_PTR_NOT_NULL_FATAL(real);
	CU_ASSERT_PTR_EQUAL(first("strfry"), (void *)strfry);
	strfry(mine);
	CU_ASSERT_STRING_EQUAL(mine, "!aaa");
#ifdef TEST_IS_SANITIZED
	CU_ASSERT_PTR_EQUAL(real, strfry);	/* the first that there is */
	real(text);
#else
	CU_ASSERT_PTR_NOT_EQUAL(real, strfry);
	CU_ASSERT_PTR_EQUAL(real(text), text);
	CU_ASSERT_STRING_EQUAL(text, "aaaa");
#endif
}

static void where_nobody_stands_it_is_what_all_have(void)
{
	CU_ASSERT_PTR_EQUAL(wefti_os_real("gnu_get_libc_version"),
			    first("gnu_get_libc_version"));
	CU_ASSERT_PTR_EQUAL(wefti_os_real("pthread_create"),
			    first("pthread_create"));
	CU_ASSERT_PTR_NOT_NULL(first("pthread_create"));
}

/* As in an object that was loaded by dlopen(): nothing comes after it. */
static void what_does_not_come_after_us_is_found_before(void)
{
	CU_ASSERT_PTR_NULL(dlsym(RTLD_NEXT, "weft_test_only_here"));
	CU_ASSERT_PTR_EQUAL(wefti_os_real("weft_test_only_here"),
			    (void *)weft_test_only_here);
}

static void what_nobody_has_is_null(void)
{
	static char name[70000];

	memset(name, 'x', sizeof(name) - 1);
	CU_ASSERT_PTR_NULL(wefti_os_real("weft_test_nowhere"));
	CU_ASSERT_PTR_NULL(wefti_os_real(""));
	CU_ASSERT_PTR_NULL(wefti_os_real(name));
}

static const struct test_case cases[] = {
	TEST(a_function_in_front_of_libcs_is_passed_over),
	TEST(where_nobody_stands_it_is_what_all_have),
	TEST(what_does_not_come_after_us_is_found_before),
	TEST(what_nobody_has_is_null),
};

TEST_MAIN("os/real", cases)
