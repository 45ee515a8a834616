/* SPDX-License-Identifier: MIT */
/* test_format.c - base/format: what printf does, cut where it is */
#include "base/format.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

/* Ours and libc's agree on the text and on its length. */
#define SAME(...)							\
	do {								\
		char ours[200], libc[200];				\
		size_t n = wefti_format(ours, sizeof(ours), __VA_ARGS__); \
									\
		CU_ASSERT_EQUAL(snprintf(libc, sizeof(libc), __VA_ARGS__), \
				(int)n);				\
		CU_ASSERT_STRING_EQUAL(ours, libc);			\
	} while (0)

static void format_prints_numbers_as_printf_does(void)
{
	SAME("plain");
	SAME("%d %i", 0, -1);
	SAME("%d %d", INT_MAX, INT_MIN);
	SAME("%u %x", UINT_MAX, UINT_MAX);
	SAME("%ld %ld", LONG_MAX, LONG_MIN);
	SAME("%lu %lx", ULONG_MAX, ULONG_MAX);
	SAME("%lld %llu %llx", LLONG_MIN, ULLONG_MAX, ULLONG_MAX);
	SAME("%zu", SIZE_MAX);
	SAME("%p", (void *)(uintptr_t)0x7ffe12345678);
	SAME("100%% of %c", 'x');
	SAME("[%5d] [%-5d] [%05d] [%05d]", 42, 42, 42, -42);
	SAME("[%*d] [%-*d] [%*d]", 6, 1, 6, 2, -6, 3);
	SAME("[%016lx] [%8x] [%-8x]", 0xabcul, 0xabcu, 0xabcu);
	SAME("[%2d] [%02u]", 12345, 12345u);
}

static void format_prints_strings_as_printf_does(void)
{
	const char open_ended[3] = { 'a', 'b', 'c' };

	SAME("%s|%s", "one", "");
	SAME("[%6s] [%-6s] [%2s]", "abc", "abc", "abc");
	SAME("[%.2s] [%6.2s] [%.*s]", "abc", "abc", 1, "abc");
	SAME("%.*s", 3, open_ended);
	SAME("%.0s|", "abc");
	SAME("[%3c] [%-3c]", 'x', 'y');
}

static void format_agrees_with_printf_on_random_numbers(void)
{
	uint64_t random = test_seed(0);

	for (size_t i = test_scaled(20000); i > 0; i--) {
		/* Numbers of all magnitudes. */
		uint64_t v = test_random(&random) >>
			     test_random_below(&random, 64);
		int width = (int)test_random_below(&random, 24) - 12;

		SAME("%ld|%lu|%lx", (long)v, (unsigned long)v,
		     (unsigned long)v);
		SAME("%d|%u|%x", (int)v, (unsigned)v, (unsigned)v);
		SAME("%*ld", width, (long)v);
	}
}

static void format_prints_null_and_stops_at_what_it_does_not_know(void)
{
	/* By a pointer, since compilers refuse both. */
	size_t (*volatile format)(char *, size_t, const char *, ...) =
		wefti_format;
	char buf[64];

	CU_ASSERT_EQUAL(format(buf, sizeof(buf), "%s", (char *)NULL), 6);
	CU_ASSERT_STRING_EQUAL(buf, "(null)");
	format(buf, sizeof(buf), "%d %f %d", 1, 2.0, 3);
	CU_ASSERT_STRING_EQUAL(buf, "1 %f %d");
	format(buf, sizeof(buf), "end %");
	CU_ASSERT_STRING_EQUAL(buf, "end %");
}

static void format_never_writes_past_the_size(void)
{
	char whole[32], buf[40];
	size_t length = wefti_format(whole, sizeof(whole), "%s=%08lx,%-4d|",
				     "name", 0xbeeful, 7);

	CU_ASSERT_EQUAL(length, strlen("name=0000beef,7   |"));
	for (size_t size = 0; size <= length + 2; size++) {
		memset(buf, '#', sizeof(buf));

		size_t n = wefti_format(buf, size, "%s=%08lx,%-4d|", "name",
					0xbeeful, 7);
		size_t fits = size == 0 ? 0 :
			      size <= length ? size - 1 : length;

		CU_ASSERT_EQUAL(n, fits);
		CU_ASSERT_EQUAL(memcmp(buf, whole, fits), 0);
		if (size > 0)
			CU_ASSERT_EQUAL(buf[fits], 0);
		CU_ASSERT_EQUAL(buf[size > 0 ? fits + 1 : 0], '#');
	}
	CU_ASSERT_EQUAL(wefti_format(NULL, 0, "%d", 1), 0);
	CU_ASSERT_EQUAL(wefti_format(buf, sizeof(buf), "%99999999d", 1),
			sizeof(buf) - 1);
}

static const struct test_case cases[] = {
	TEST(format_prints_numbers_as_printf_does),
	TEST(format_prints_strings_as_printf_does),
	TEST(format_agrees_with_printf_on_random_numbers),
	TEST(format_prints_null_and_stops_at_what_it_does_not_know),
	TEST(format_never_writes_past_the_size),
};

TEST_MAIN("base/format", cases)
