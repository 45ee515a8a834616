/* SPDX-License-Identifier: MIT */
/* test_dormant.c - os/dormant: mapped first, linked later, and by nobody else */
#include "os/object/dormant.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../module.h"

#define OURS	42

static struct wefti_dormant d;
static const char *module;

static pid_t ours(void)
{
	return OURS;
}

/* All that it may call: the last one has libc's name, and is not libc's. */
static void *import(const char *name)
{
	if (strcmp(name, "memset") == 0)
		return (void *)memset;
	return strcmp(name, "getpid") == 0 || strcmp(name, "getppid") == 0 ?
	       (void *)ours : NULL;
}

static int call(const char *name)
{
	int (*fn)(void) = (int (*)(void))wefti_os_dormant_find(&d, name);

	CU_ASSERT_FATAL(fn != NULL);
	return fn();
}

static int call_own(int number)
{
	int (*fn)(int) = (int (*)(int))wefti_os_dormant_find(&d, "weft_test_own");

	CU_ASSERT_FATAL(fn != NULL);
	return fn(number);
}

static void map(void)
{
	char path[PATH_MAX];

	CU_ASSERT_EQUAL_FATAL(module_path(module, path, sizeof(path)), 0);
	CU_ASSERT_EQUAL_FATAL(wefti_os_dormant_map(&d, path), 0);
}

/* In a child: no file can be opened, and nothing mapped, by then. */
static int links_without_files(void)
{
	struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_NOFILE, &none) != 0 || setrlimit(RLIMIT_AS, &none) != 0)
		return 2;
	return wefti_os_dormant_link(&d, import) == 0 && call("weft_test_made") == 1 &&
	       call("weft_test_zeros") == 1 ? 0 : 1;
}

static int status_of(int (*fn)(void))
{
	int status;
	pid_t child = fork();

	CU_ASSERT_NOT_EQUAL_FATAL(child, -1);
	if (child == 0)
		_exit(fn());
	CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
	return status;
}

static int calls_missing(void)
{
	fclose(stderr);
	return call("weft_test_call_missing");
}

static int calls_tls(void)
{
	fclose(stderr);
	return call("weft_test_tls");
}

static int ended_by_abort(int (*fn)(void))
{
	const int status = status_of(fn);

	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void is_linked(void)
{
	map();
	CU_ASSERT_PTR_NULL(wefti_os_dormant_find(&d, "weft_test_nowhere"));
	CU_ASSERT_PTR_NULL(wefti_os_dormant_find(&d, "getpid"));
	CU_ASSERT_EQUAL(status_of(links_without_files), 0);
	CU_ASSERT_EQUAL_FATAL(wefti_os_dormant_link(&d, import), 0);
	CU_ASSERT_EQUAL(call("weft_test_made"), 1);
	CU_ASSERT_EQUAL(call("weft_test_zeros"), 1);
	CU_ASSERT_EQUAL(call("weft_test_imported"), OURS);
	CU_ASSERT_EQUAL(call("weft_test_imported_by_pointer"), OURS);
	CU_ASSERT_EQUAL(call("weft_test_has_weak"), 0);
	for (int i = 0; i < 200; i++)
		CU_ASSERT_EQUAL(call_own(i), i == 0 || i == 62 || i == 64 ? 1 :
					     i == 1 || i == 63 || i == 199 ? 2 : 0);
	CU_ASSERT_TRUE(ended_by_abort(calls_missing));
	CU_ASSERT_TRUE(ended_by_abort(calls_tls));
	wefti_os_dormant_unmap(&d);
	CU_ASSERT_EQUAL(d.base, 0);
}

/* A sanitizer's module calls the sanitizer, and is only mapped. */
static void is_linked_if_it_can(void)
{
#ifdef TEST_IS_SANITIZED
	(void)is_linked;
	map();
	wefti_os_dormant_unmap(&d);
#else
	is_linked();
#endif
}

static void a_library_is_linked_without_the_loader(void)
{
	module = "dormant_module.so";
	is_linked_if_it_can();
}

/* Where the linker cannot pack them it has written them as ever. */
static void packed_relocations_are_done_too(void)
{
	module = "packed_module.so";
	is_linked_if_it_can();
}

static int map_text(const char *folder, const char *text, size_t bytes)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/file", folder);
	f = fopen(path, "w");
	CU_ASSERT_FATAL(f != NULL && fwrite(text, 1, bytes, f) == bytes);
	fclose(f);
	return wefti_os_dormant_map(&d, path);
}

static void what_is_no_library_is_not_mapped(void)
{
	static char text[4096];
	char folder[64], path[PATH_MAX];
	FILE *f;

	module_folder(folder, sizeof(folder));
	CU_ASSERT_EQUAL_FATAL(module_path("dormant_module.so", path, sizeof(path)), 0);
	f = fopen(path, "r");
	CU_ASSERT_FATAL(f != NULL && fread(text, 1, sizeof(text), f) == sizeof(text));
	fclose(f);
	CU_ASSERT_EQUAL(map_text(folder, text, 0), -ENOEXEC);
	CU_ASSERT_EQUAL(map_text(folder, text, 100), -ENOEXEC);
	text[18]++;	/* the CPU */
	CU_ASSERT_EQUAL(map_text(folder, text, sizeof(text)), -ENOEXEC);
	text[18]--;
	text[16] = 2;	/* a program that is not to be moved */
	CU_ASSERT_EQUAL(map_text(folder, text, sizeof(text)), -ENOEXEC);
	memset(text, 0, sizeof(text));
	CU_ASSERT_EQUAL(map_text(folder, text, sizeof(text)), -ENOEXEC);
	CU_ASSERT_EQUAL(wefti_os_dormant_map(&d, "/nonexistent/library"), -ENOENT);
	CU_ASSERT_EQUAL(wefti_os_dormant_map(&d, folder), -EISDIR);
	CU_ASSERT_EQUAL(d.base, 0);
	module_folder_end(folder);
}

static const struct test_case cases[] = {
	TEST(a_library_is_linked_without_the_loader),
	TEST(packed_relocations_are_done_too),
	TEST(what_is_no_library_is_not_mapped),
};

TEST_MAIN("os/dormant", cases)
