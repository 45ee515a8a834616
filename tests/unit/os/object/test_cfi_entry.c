/* SPDX-License-Identifier: MIT */
/* test_cfi_entry.c - os/cfi_entry: the entry of an instruction */
#include "os/object/cfi_entry.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "os/object/objects.h"
#include "os/object/unwind.h"
#include "support.h"

static struct wefti_cie common;
static struct wefti_bytes code;
static uintptr_t low;

static int find(uintptr_t pc)
{
	wefti_os_objects_read();
	wefti_os_unwind_begin();
	return wefti_os_cfi_entries(pc, &common, &code, &low);
}

NOINLINE static void function(void)
{
	__asm__ volatile("" ::: "memory");
}

static void a_function_has_one(void)
{
	CU_ASSERT_EQUAL(find((uintptr_t)function), 0);
	CU_ASSERT_EQUAL(low, (uintptr_t)function);
	CU_ASSERT_TRUE(common.link < WEFTI_ARCH_UNWIND_REGISTERS);
	CU_ASSERT_TRUE(wefti_bytes_left(&common.code));
	CU_ASSERT_FALSE(common.code.failed || code.failed);
	CU_ASSERT_EQUAL(find((uintptr_t)qsort), 0);
}

static void data_have_none(void)
{
	int here = 0;

	CU_ASSERT_EQUAL(find((uintptr_t)&here), -1);
	CU_ASSERT_EQUAL(find((uintptr_t)&low), -1);
	CU_ASSERT_EQUAL(find(0), -1);
	CU_ASSERT_EQUAL(find(UINTPTR_MAX), -1);
}

static const struct test_case cases[] = {
	TEST(a_function_has_one),
	TEST(data_have_none),
};

TEST_MAIN("os/cfi_entry", cases)
