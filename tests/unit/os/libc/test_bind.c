/* SPDX-License-Identifier: MIT */
/* test_bind.c - os/bind: what a library calls, and nothing else, is changed */
#include "os/libc/bind.h"

#include <errno.h>
#include <link.h>
#include <sys/types.h>

#include "../module.h"

#define OURS	42

static void *module;
static uintptr_t base;

static pid_t ours(void)
{
	return OURS;
}

static int call(const char *name)
{
	int (*fn)(void) = (int (*)(void))dlsym(module, name);

	CU_ASSERT_FATAL(fn != NULL);
	return fn();
}

static void load(void)
{
	char path[PATH_MAX];
	Dl_info info;

	CU_ASSERT_EQUAL_FATAL(module_path("bound_module.so", path,
					  sizeof(path)), 0);
	module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	CU_ASSERT_FATAL(dladdr(dlsym(module, "weft_test_call"), &info) != 0);
	base = (uintptr_t)info.dli_fbase;
}

static void unload(void)
{
	CU_ASSERT_EQUAL(dlclose(module), 0);
}

static int bind(const char *name, void *to)
{
	const struct wefti_os_binding bindings[] = {
		{ "weft_test_nowhere", (void *)ours }, { name, to },
	};

	return wefti_os_bind(base, bindings, 2);
}

static void what_it_calls_is_changed(void)
{
	load();
	CU_ASSERT_EQUAL(call("weft_test_call"), getpid());
	CU_ASSERT_EQUAL(bind("getpid", (void *)ours), 0);
	CU_ASSERT_EQUAL(call("weft_test_call"), OURS);
	CU_ASSERT_EQUAL(call("weft_test_call_other"), getppid());
	CU_ASSERT_NOT_EQUAL(getpid(), OURS);	/* other callers */
	CU_ASSERT_EQUAL(bind("getpid", (void *)getpid), 0);
	CU_ASSERT_EQUAL(call("weft_test_call"), getpid());
	unload();
}

/* The loader has made the table that this is in read-only. */
static int is_writable(uintptr_t at)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], access[5] = "";
	unsigned long from = 0, to = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %4s", &from, &to, access) == 3 &&
		    at >= from && at < to)
			break;
	fclose(maps);
	return access[1] == 'w';
}

static int find_constant(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t *at = arg;

	(void)size;
	if (info->dlpi_addr != base)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO)
			*at = base + info->dlpi_phdr[i].p_vaddr;
	return 1;
}

static void what_it_takes_the_address_of_is_changed(void)
{
	uintptr_t constant = 0;

	load();
	dl_iterate_phdr(find_constant, &constant);
	CU_ASSERT_EQUAL(call("weft_test_call_named"), getpgrp());
	CU_ASSERT_EQUAL(bind("getpgrp", (void *)ours), 0);
	CU_ASSERT_EQUAL(call("weft_test_call_named"), OURS);
	CU_ASSERT_FALSE(constant && is_writable(constant));
	unload();
}

static void a_name_for_which_there_is_nothing_is_left(void)
{
	load();
	CU_ASSERT_EQUAL(bind("getpid", NULL), 0);
	CU_ASSERT_EQUAL(call("weft_test_call"), getpid());
	unload();
}

/* What is libc's is bound anew; what was bound to something else stays. */
static void what_is_libcs_is_changed_and_nothing_else(void)
{
	const struct wefti_os_binding other = { "getppid", (void *)ours };
	const struct wefti_os_binding bindings[] = {
		{ "getpid", (void *)ours }, { "getppid", (void *)getpid },
		{ "weft_test_call", (void *)ours },
	};

	load();
	CU_ASSERT_EQUAL(wefti_os_bind(base, &other, 1), 0);
	CU_ASSERT_EQUAL(wefti_os_bind_libcs(base, bindings, 3), 0);
	CU_ASSERT_EQUAL(call("weft_test_call"), OURS);
	CU_ASSERT_EQUAL(call("weft_test_call_other"), OURS);
	CU_ASSERT_EQUAL(wefti_os_bind_libcs(base + 4096, bindings, 3), -ENOENT);
	unload();
}

static void a_library_can_be_parted_from_the_program(void)
{
	const struct wefti_os_binding mine = { "getppid", (void *)ours };
	const struct wefti_os_binding first = { "getpgrp", (void *)ours };

	load();
	CU_ASSERT_EQUAL(wefti_os_bind(base, &mine, 1), 0);	/* as a program's */
	CU_ASSERT_EQUAL(wefti_os_bind_apart("bound_module", &first, 1), 0);
	CU_ASSERT_EQUAL(call("weft_test_call_other"), getppid());
	CU_ASSERT_EQUAL(call("weft_test_call_named"), OURS);
	CU_ASSERT_EQUAL(call("weft_test_call"), getpid());
	CU_ASSERT_EQUAL(wefti_os_bind_apart("no_such_module", &first, 1), -ENOENT);
	unload();
}

static void where_no_library_is_nothing_is_changed(void)
{
	load();
	base += 4096;
	CU_ASSERT_EQUAL(bind("getpid", (void *)ours), -ENOENT);
	CU_ASSERT_EQUAL(call("weft_test_call"), getpid());
	unload();
}

static const struct test_case cases[] = {
	TEST(what_it_calls_is_changed),
	TEST(what_it_takes_the_address_of_is_changed),
	TEST(a_name_for_which_there_is_nothing_is_left),
	TEST(what_is_libcs_is_changed_and_nothing_else),
	TEST(a_library_can_be_parted_from_the_program),
	TEST(where_no_library_is_nothing_is_changed),
};

TEST_MAIN("os/bind", cases)
