/* SPDX-License-Identifier: MIT */
/* test_exports.c - os/exports: what a library exports, and what it does not */
#include "os/libc/exports.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static struct wefti_exports of_libc(void)
{
	const struct link_map *map;
	Dl_info info;

	CU_ASSERT_FATAL(dladdr1((void *)getenv, &info, (void **)&map,
				RTLD_DL_LINKMAP) != 0);
	return wefti_exports_read(map->l_addr, map->l_ld);
}

static void what_a_library_exports_is_found(void)
{
	const struct wefti_exports libc = of_libc();
	const ElfW(Sym) *s = wefti_exports_find(&libc, "getenv");

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_PTR_EQUAL((void *)(libc.base + s->st_value), dlsym(RTLD_NEXT, "getenv"));
	CU_ASSERT_EQUAL(strncmp(libc.soname, "libc.so.", strlen("libc.so.")), 0);
}

/* The second is the loader's, which libc imports. */
static void what_it_does_not_export_is_not(void)
{
	const struct wefti_exports libc = of_libc(), none = { .base = 0 };

	CU_ASSERT_PTR_NULL(wefti_exports_find(&libc, "no_such_function"));
	CU_ASSERT_PTR_NULL(wefti_exports_find(&libc, "__tls_get_addr"));
	CU_ASSERT_PTR_NULL(wefti_exports_find(&libc, ""));
	CU_ASSERT_PTR_NULL(wefti_exports_find(&none, "getenv"));
}

static const struct test_case cases[] = {
	TEST(what_a_library_exports_is_found),
	TEST(what_it_does_not_export_is_not),
};

TEST_MAIN("os/exports", cases)
