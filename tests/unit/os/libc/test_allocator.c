/* SPDX-License-Identifier: MIT */
/*
 * test_allocator.c - os/allocator: which malloc() it is, by where it is found
 *
 * The linker puts __wrap_dlsym() in front of libc's: it says where malloc() is.
 */
#include "os/libc/allocator.h"

#include <dlfcn.h>
#include <string.h>

#include "../module.h"

static void *other_malloc;
static int is_other;

void *__real_dlsym(void *handle, const char *name);
void *__wrap_dlsym(void *handle, const char *name);

void *__wrap_dlsym(void *handle, const char *name)
{
	if (is_other && handle == RTLD_DEFAULT && strcmp(name, "malloc") == 0)
		return other_malloc;
	return __real_dlsym(handle, name);
}

static enum wefti_os_allocator find_at(void *where, uintptr_t *base)
{
	enum wefti_os_allocator found;

	other_malloc = where;
	is_other = 1;
	found = wefti_os_allocator_find(base);
	is_other = 0;
	return found;
}

static void it_is_libcs_if_nothing_is_in_front(void)
{
	uintptr_t base = 0;
	void *libcs = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");

#ifndef TEST_IS_SANITIZED
	CU_ASSERT_EQUAL(wefti_os_allocator_find(&base), WEFTI_ALLOCATOR_LIBC);
#else
	CU_ASSERT_EQUAL(wefti_os_allocator_find(&base), WEFTI_ALLOCATOR_OTHER);
#endif
	CU_ASSERT_EQUAL(find_at(libcs, &base), WEFTI_ALLOCATOR_LIBC);
	CU_ASSERT_EQUAL(memcmp((void *)base, "\177ELF", 4), 0);
}

static void it_is_known_by_its_librarys_name(void)
{
	static const struct {
		const char *name;
		enum wefti_os_allocator expected;
	} copies[] = {
		{ "libjemalloc.so.2", WEFTI_ALLOCATOR_KNOWN },
		{ "libjemalloc.so", WEFTI_ALLOCATOR_KNOWN },
		{ "libtcmalloc.so.4", WEFTI_ALLOCATOR_KNOWN },
		{ "libtcmalloc_minimal.so.4.5.9", WEFTI_ALLOCATOR_KNOWN },
		{ "libmimalloc.so.2.0", WEFTI_ALLOCATOR_KNOWN },
		{ "libtcmalloc_minimal_debug.so.4", WEFTI_ALLOCATOR_OTHER },
		{ "libjemalloc_pic.so.2", WEFTI_ALLOCATOR_OTHER },
		{ "xlibjemalloc.so.2", WEFTI_ALLOCATOR_OTHER },
		{ "libhoard.so", WEFTI_ALLOCATOR_OTHER },
	};
	char from[PATH_MAX], folder[64], to[PATH_MAX];

	CU_ASSERT_EQUAL_FATAL(module_path("plain_module.so", from,
					  sizeof(from)), 0);
	module_folder(folder, sizeof(folder));
	for (size_t i = 0; i < sizeof(copies) / sizeof(*copies); i++) {
		void *loaded;
		uintptr_t base = 0;
		Dl_info info;

		snprintf(to, sizeof(to), "%s/%s", folder, copies[i].name);
		module_copy(from, to, SIZE_MAX);
		loaded = dlopen(to, RTLD_NOW | RTLD_LOCAL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(loaded);
		CU_ASSERT_EQUAL(find_at(dlsym(loaded, "weft_test_plain"),
					&base), copies[i].expected);
		CU_ASSERT_TRUE(dladdr((void *)base, &info) != 0 &&
			       strcmp(info.dli_fname, to) == 0);
		dlclose(loaded);
	}
	module_folder_end(folder);
}

static void without_one_or_with_its_own_it_is_another(void)
{
	uintptr_t base;

	CU_ASSERT_EQUAL(find_at(NULL, &base), WEFTI_ALLOCATOR_OTHER);
	CU_ASSERT_EQUAL(find_at((void *)find_at, &base),
			WEFTI_ALLOCATOR_OTHER);
	CU_ASSERT_EQUAL(find_at((void *)1, &base), WEFTI_ALLOCATOR_OTHER);
}

static void weft_explores_library_calls_the_next_one(void)
{
	char from[PATH_MAX], folder[64], to[PATH_MAX];
	enum wefti_os_allocator as_without;
	uintptr_t base = 0, without = 0;
	void *loaded;

	CU_ASSERT_EQUAL_FATAL(module_path("plain_module.so", from, sizeof(from)), 0);
	module_folder(folder, sizeof(folder));
	snprintf(to, sizeof(to), "%s/libweft-explore.so", folder);
	module_copy(from, to, SIZE_MAX);
	loaded = dlopen(to, RTLD_NOW | RTLD_LOCAL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(loaded);
	as_without = find_at(dlsym(RTLD_NEXT, "malloc"), &without);
	CU_ASSERT_EQUAL(find_at(dlsym(loaded, "weft_test_plain"), &base), as_without);
	CU_ASSERT_EQUAL(base, without);
	dlclose(loaded);
	module_folder_end(folder);
}

static const struct test_case cases[] = {
	TEST(it_is_libcs_if_nothing_is_in_front),
	TEST(it_is_known_by_its_librarys_name),
	TEST(weft_explores_library_calls_the_next_one),
	TEST(without_one_or_with_its_own_it_is_another),
};

TEST_MAIN("os/allocator", cases)
