/* SPDX-License-Identifier: MIT */
/* test_unwind_open.c - os/unwind_open: where libunwind is found, and where it is not */
#include "os/object/unwind_open.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <link.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#define TEXT_(x)	#x
#define TEXT(x)		TEXT_(x)
#define LIBRARY		"libunwind-" TEXT(UNW_TARGET) ".so.8"

#define IS_NOT_THERE	0
#define IS_THERE	1
#define MAY_NOT		2

/* Where /lib is a link to usr/lib, the library has the same path below /usr. */
static int in_another_root(void)
{
	if (chroot("/usr") != 0)
		return MAY_NOT;
	return wefti_os_unwind_map() == 0 ? IS_THERE : IS_NOT_THERE;
}

static void it_is_not_looked_for_in_another_root(void)
{
	pid_t child = fork();
	int status;

	CU_ASSERT_NOT_EQUAL_FATAL(child, -1);
	if (child == 0)
		_exit(in_another_root());
	CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
	CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != IS_THERE);
	if (WIFEXITED(status) && WEXITSTATUS(status) == MAY_NOT)
		printf("    this user may not change the root\n");
}

static int count_libunwind(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(int *)arg += info->dlpi_name && strstr(info->dlpi_name, "libunwind");
	return 0;
}

/* The program may have it too: that one stays the program's alone. */
static void the_loader_does_not_know_of_it(void)
{
	const char *const step = TEXT(UNW_OBJ(step));
	void *programs;
	int count = 0;

	if (wefti_os_unwind_map() != 0) {
		printf("    there is no %s\n", LIBRARY);
		return;
	}
	CU_ASSERT_EQUAL(wefti_os_unwind_link(), 0);
	CU_ASSERT_PTR_NOT_NULL(wefti_os_unwind_function(step));
	CU_ASSERT_PTR_NULL(wefti_os_unwind_function("no_such_function"));
	dl_iterate_phdr(count_libunwind, &count);
	CU_ASSERT_EQUAL(count, 0);
	programs = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (programs)
		CU_ASSERT_PTR_NOT_EQUAL(dlsym(programs, step),
					wefti_os_unwind_function(step));
}

static const struct test_case cases[] = {
	TEST(it_is_not_looked_for_in_another_root),
	TEST(the_loader_does_not_know_of_it),
};

TEST_MAIN("os/unwind_open", cases)
