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
	return wefti_os_unwind_open() ? IS_THERE : IS_NOT_THERE;
}

/* First, as libunwind is not loaded yet. */
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

/* The program has it by the name alone, as the loader finds it. */
static void what_the_program_has_loaded_is_taken(void)
{
	void *programs = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL), *ours;
	struct link_map *map;

	ours = wefti_os_unwind_open();
	if (!ours) {
		printf("    there is no %s\n", LIBRARY);
		return;
	}
	CU_ASSERT_EQUAL_FATAL(dlinfo(ours, RTLD_DI_LINKMAP, &map), 0);
	CU_ASSERT_EQUAL(map->l_name[0], '/');
	CU_ASSERT_PTR_NOT_NULL(strstr(map->l_name, LIBRARY));
	if (programs)
		CU_ASSERT_PTR_EQUAL(ours, programs);
	CU_ASSERT_PTR_EQUAL(wefti_os_unwind_open(), ours);
}

static const struct test_case cases[] = {
	TEST(it_is_not_looked_for_in_another_root),
	TEST(what_the_program_has_loaded_is_taken),
};

TEST_MAIN("os/unwind_open", cases)
