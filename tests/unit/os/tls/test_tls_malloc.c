/* SPDX-License-Identifier: MIT */
/*
 * test_tls_malloc.c - os/tls_malloc: malloc's words, from one block to another
 *
 * The blocks are arrays here, and where the words are in them is made up. The
 * linker puts __wrap_malloc() in front of libc's, which can fail.
 */
#include "os/tls/tls_malloc.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

#define BLOCK	8

static const ptrdiff_t made_up[MALLOC_WORDS_MAX] = { 0, 8, -16, 32 };
static uintptr_t block[3][BLOCK];
static int no_memory;

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);

void *__wrap_malloc(size_t bytes)
{
	return no_memory ? NULL : __real_malloc(bytes);
}

/* Its words are in the middle, and those at its ends are somebody else's. */
static uintptr_t tp_of(int i)
{
	return (uintptr_t)&block[i][3];
}

static void fill(int i, uintptr_t first)
{
	for (int j = 0; j < BLOCK; j++)
		block[i][j] = 7777;
	for (unsigned j = 0; j < wefti_tls_layout.malloc_words; j++)
		*wefti_tls_malloc_word(tp_of(i), j) = first ? first + j : 0;
}

static int holds(int i, uintptr_t first)
{
	uintptr_t expected[BLOCK];
	int same;

	memcpy(expected, block[i], sizeof(expected));
	fill(i, first);
	same = memcmp(expected, block[i], sizeof(expected)) == 0;
	memcpy(block[i], expected, sizeof(expected));
	return same;
}

static void begin(unsigned words)
{
	memcpy(wefti_tls_layout.tls_malloc, made_up, sizeof(made_up));
	wefti_tls_layout.malloc_words = words;
	for (int i = 0; i < 3; i++)
		fill(i, 0);
}

static void words_go_to_another_block_and_nowhere_else(void)
{
	for (unsigned words = 1; words <= MALLOC_WORDS_MAX; words++) {
		struct wefti_tls_malloc *left;

		begin(words);
		fill(0, 100);
		left = wefti_tls_malloc_of(tp_of(0));
		CU_ASSERT_PTR_NOT_NULL_FATAL(left);
		CU_ASSERT_TRUE(holds(0, 100));		/* that only looks */
		wefti_tls_malloc_none(tp_of(0));
		CU_ASSERT_TRUE(holds(0, 0));
		wefti_tls_malloc_adopt(tp_of(1), left);
		CU_ASSERT_TRUE(holds(1, 100));
		CU_ASSERT_TRUE(holds(2, 0));
	}
}

static void one_word_of_them_is_something(void)
{
	begin(3);
	CU_ASSERT_PTR_NULL(wefti_tls_malloc_of(tp_of(0)));
	for (unsigned i = 0; i < 3; i++) {
		struct wefti_tls_malloc *left;

		fill(0, 0);
		fill(1, 50);
		*wefti_tls_malloc_word(tp_of(0), i) = 9;
		left = wefti_tls_malloc_of(tp_of(0));
		CU_ASSERT_PTR_NOT_NULL_FATAL(left);
		wefti_tls_malloc_adopt(tp_of(1), left);
		for (unsigned j = 0; j < 3; j++)
			CU_ASSERT_EQUAL(*wefti_tls_malloc_word(tp_of(1), j),
					i == j ? 9u : 0u);
	}
}

/* What is behind the words that there are is not looked at. */
static void words_that_are_not_there_are_nothing(void)
{
	begin(MALLOC_WORDS_MAX);
	fill(0, 1);
	wefti_tls_layout.malloc_words = 0;
	CU_ASSERT_PTR_NULL(wefti_tls_malloc_of(tp_of(0)));
	wefti_tls_malloc_none(tp_of(0));
	wefti_tls_layout.malloc_words = MALLOC_WORDS_MAX;
	CU_ASSERT_TRUE(holds(0, 1));
}

static void without_memory_there_is_nothing_to_keep(void)
{
	begin(2);
	fill(0, 100);
	no_memory = 1;
	CU_ASSERT_PTR_NULL(wefti_tls_malloc_of(tp_of(0)));
	no_memory = 0;
	CU_ASSERT_TRUE(holds(0, 100));
}

static void what_is_kept_is_given_once(void)
{
	struct wefti_tls_malloc *left[3], *kept;
	uintptr_t seen = 0;

	begin(2);
	CU_ASSERT_PTR_NULL(wefti_tls_malloc_kept());
	wefti_tls_malloc_keep(NULL);
	CU_ASSERT_PTR_NULL(wefti_tls_malloc_kept());
	for (int i = 0; i < 3; i++) {
		fill(0, (uintptr_t)1 << (4 * i));
		left[i] = wefti_tls_malloc_of(tp_of(0));
		CU_ASSERT_PTR_NOT_NULL_FATAL(left[i]);
		wefti_tls_malloc_keep(left[i]);
	}
	wefti_tls_malloc_keep(NULL);
	for (int i = 0; i < 3; i++) {
		kept = wefti_tls_malloc_kept();
		CU_ASSERT_PTR_NOT_NULL_FATAL(kept);
		wefti_tls_malloc_adopt(tp_of(1), kept);
		seen += *wefti_tls_malloc_word(tp_of(1), 0);
	}
	CU_ASSERT_EQUAL(seen, 0x111);
	CU_ASSERT_PTR_NULL(wefti_tls_malloc_kept());
}

static void nothing_adopted_changes_nothing(void)
{
	begin(3);
	fill(0, 100);
	wefti_tls_malloc_adopt(tp_of(0), NULL);
	CU_ASSERT_TRUE(holds(0, 100));
}

static const struct test_case cases[] = {
	TEST(words_go_to_another_block_and_nowhere_else),
	TEST(one_word_of_them_is_something),
	TEST(words_that_are_not_there_are_nothing),
	TEST(without_memory_there_is_nothing_to_keep),
	TEST(what_is_kept_is_given_once),
	TEST(nothing_adopted_changes_nothing),
};

TEST_MAIN("os/tls_malloc", cases)
