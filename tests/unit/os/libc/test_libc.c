/* SPDX-License-Identifier: MIT */
/*
 * test_libc.c - os/libc: no call of weft's is answered by the program
 *
 * This program has functions of libc's names, which the linker exports (-E). Each only
 * counts; whoever calls one in place of libc's is seen.
 */
#include "os/libc/libc.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "os/libc/libc_names.h"
#include "support.h"

#define EXPORTED	__attribute__((visibility("default"), used))

/* What base/, os/ and the layers above call; each is a word of the table. */
#define WORD(name)	#name,
static const char *const names[] = {
	WEFTI_LIBC_ONLY(WORD)
	WEFTI_LIBC_INTERPOSED(WORD)
};

#define NAMES	(sizeof(names) / sizeof(*names))

extern void *volatile wefti_libc_table[];

static int calls;

EXPORTED int getppid(void);
EXPORTED size_t strnlen(const char *text, size_t most);

int getppid(void)
{
	return ++calls;
}

size_t strnlen(const char *text, size_t most)
{
	(void)text;
	(void)most;
	return (size_t)++calls;
}

static void what_a_program_defines_is_passed_over(void)
{
	pid_t (*parent)(void) = (pid_t (*)(void))wefti_os_libc("getppid");

	CU_ASSERT_PTR_NOT_NULL_FATAL((void *)parent);
	CU_ASSERT_PTR_NOT_EQUAL((void *)parent, (void *)getppid);
	calls = 0;
	CU_ASSERT(parent() > 0);
	CU_ASSERT_EQUAL(calls, 0);
	CU_ASSERT_EQUAL(getppid(), 1);
}

/* strnlen() is one: the loader chooses the function for this CPU. */
static void an_indirect_function_is_the_chosen_one(void)
{
	size_t (*length)(const char *, size_t) =
		(size_t (*)(const char *, size_t))wefti_os_libc("strnlen");

	CU_ASSERT_PTR_NOT_NULL_FATAL((void *)length);
	calls = 0;
	CU_ASSERT_EQUAL(length("weft", 3), 3);
	CU_ASSERT_EQUAL(length("weft", 9), 4);
	CU_ASSERT_EQUAL(calls, 0);
}

/* libc has pthread_cond_wait() for old programs too, and dlvsym() knows which is which. */
static void among_versions_it_is_the_default_one(void)
{
	void *old = dlvsym(RTLD_DEFAULT, "pthread_cond_wait", "GLIBC_2.2.5");
	void *new = dlvsym(RTLD_DEFAULT, "pthread_cond_wait", "GLIBC_2.3.2");

	if (!new)
		return;		/* a CPU that is younger than that */
	CU_ASSERT_PTR_EQUAL(wefti_os_libc("pthread_cond_wait"), new);
	CU_ASSERT_PTR_NOT_EQUAL(old, new);
}

/* "name@@VERSION" in a line of readelf's is the default. Returns whether it is told. */
static int is_default(const char *line, unsigned long *at, char *name)
{
	char type[16], version[16];

	return sscanf(line, " %*u: %lx %*s %15s %*s %*s %*s %99[^@]@%15s", at, type, name,
		      version) == 4 && strcmp(type, "FUNC") == 0 && *version == '@';
}

/* Before glibc 2.34 the loader's or another library's function may come first. */
static void each_function_is_the_one_that_readelf_calls_default(void)
{
	char line[500], name[100];
	unsigned long at;
	int seen = 0;
	Dl_info libc, found;
	FILE *lines;

	CU_ASSERT_NOT_EQUAL_FATAL(dladdr(wefti_os_libc("gnu_get_libc_version"), &libc), 0);
	snprintf(line, sizeof(line), "readelf -W --dyn-syms %s 2>/dev/null", libc.dli_fname);
	lines = popen(line, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(lines);
	while (fgets(line, sizeof(line), lines)) {
		const char *word;

		if (!is_default(line, &at, name))
			continue;
		word = wefti_os_libc(name);
		seen++;
		if (word == (char *)libc.dli_fbase + at || (word && dladdr(word, &found) &&
					found.dli_fbase != libc.dli_fbase))
			continue;
		printf("    %s\n", name);
		CU_FAIL();
	}
	pclose(lines);
	CU_ASSERT(seen == 0 || seen > 1000);	/* 0: there is no readelf */
}

static void the_loaders_own_are_found_too(void)
{
	CU_ASSERT_PTR_NOT_NULL(wefti_os_libc("_rtld_global"));
	CU_ASSERT_PTR_NOT_NULL(wefti_os_libc("__tls_get_addr"));
}

static void what_libc_has_not_is_null(void)
{
	static char long_name[70000];

	memset(long_name, 'x', sizeof(long_name) - 1);
	CU_ASSERT_PTR_NULL(wefti_os_libc(""));
	CU_ASSERT_PTR_NULL(wefti_os_libc(long_name));
	CU_ASSERT_PTR_NULL(wefti_os_libc("main"));
	CU_ASSERT_PTR_NULL(wefti_os_libc("wefti_os_libc"));
	CU_ASSERT_PTR_NULL(wefti_os_libc("sqrt"));	/* libm's */
}

static void each_word_of_the_table_is_libcs(void)
{
	Dl_info of_libc, of_word;

	CU_ASSERT_NOT_EQUAL_FATAL(dladdr(wefti_os_libc("gnu_get_libc_version"),
					 &of_libc), 0);
	for (size_t i = 0; i < NAMES; i++) {
		void *word = wefti_libc_table[i];

		/* An older libc lacks some. */
		if (!wefti_os_libc(names[i]) && !dlsym(RTLD_DEFAULT, names[i]))
			continue;
		if (!dladdr(word, &of_word) ||
		    word != wefti_os_libc(names[i]) ||
		    (of_word.dli_fbase != of_libc.dli_fbase &&
		     !strstr(of_word.dli_fname, "/ld-") &&
		     !strstr(of_word.dli_fname, "/libdl") &&
		     !strstr(of_word.dli_fname, "/libpthread"))) {
			printf("    %s\n", names[i]);
			CU_FAIL();
		}
	}
}

/* --- the way there ------------------------------------------------------ */

#define WAY(result, name, ...) \
	result way_to_##name(__VA_ARGS__) __asm__("wefti_libc_" #name)

WAY(int, snprintf, char *to, size_t size, const char *format, ...);
WAY(pid_t, getppid, void);
WAY(int *, __errno_location, void);

/* What the words say before they are filled: each leads to the search. */
static void *unfilled[NAMES];

__attribute__((constructor(101))) static void keep(void)
{
	for (size_t i = 0; i < NAMES; i++)
		unfilled[i] = wefti_libc_table[i];
}

static size_t index_of(const char *name)
{
	for (size_t i = 0; i < NAMES; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return NAMES;
}

static void say_ten_things(void)
{
	char text[200];

	CU_ASSERT(way_to_snprintf(text, sizeof(text),
				  "%d %s %.1f %d %d %d %d %.1f %.1f %s", 1, "two",
				  3.0, 4, 5, 6, 7, 8.0, 9.5, "ten") > 0);
	CU_ASSERT_STRING_EQUAL(text, "1 two 3.0 4 5 6 7 8.0 9.5 ten");
}

static void arguments_and_results_pass_by(void)
{
	say_ten_things();
	CU_ASSERT_PTR_EQUAL(way_to___errno_location(), &errno);
	calls = 0;
	CU_ASSERT(way_to_getppid() > 0);
	CU_ASSERT_EQUAL(calls, 0);
}

/* A constructor that runs before ours, or a malloc() of the program's, may call. */
static void the_first_call_finds_them_all(void)
{
	size_t print = index_of("snprintf"), other = index_of("getppid");
	void *found = wefti_libc_table[print];

	CU_ASSERT_PTR_NOT_EQUAL(unfilled[print], found);
	wefti_libc_table[print] = unfilled[print];
	wefti_libc_table[other] = unfilled[other];
	say_ten_things();
	CU_ASSERT_PTR_EQUAL(wefti_libc_table[print], found);
	CU_ASSERT_PTR_EQUAL(wefti_libc_table[other], wefti_os_libc("getppid"));
}

static const struct test_case cases[] = {
	TEST(what_a_program_defines_is_passed_over),
	TEST(an_indirect_function_is_the_chosen_one),
	TEST(among_versions_it_is_the_default_one),
	TEST(each_function_is_the_one_that_readelf_calls_default),
	TEST(the_loaders_own_are_found_too),
	TEST(what_libc_has_not_is_null),
	TEST(each_word_of_the_table_is_libcs),
	TEST(arguments_and_results_pass_by),
	TEST(the_first_call_finds_them_all),
};

TEST_MAIN("os/libc", cases)
