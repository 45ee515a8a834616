/* SPDX-License-Identifier: MIT */
/*
 * test_cell.c - chan/cell: where messages of each size lie, that none lies in
 * another's place, and what there is when there is no memory
 */
#include "chan/cell.h"

#include <errno.h>
#include <stdlib.h>

#include "support.h"

#define LONGEST	5000
#define MANY	500		/* more than are made at once */

/* The linker puts these in the place of what can fail. */
static int refuses;

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
int __real_wefti_dense_grow(struct wefti_dense *d, size_t item_bytes,
			    uint32_t count, uint32_t *first);
int __wrap_wefti_dense_grow(struct wefti_dense *d, size_t item_bytes,
			    uint32_t count, uint32_t *first);

void *__wrap_malloc(size_t bytes)
{
	return refuses ? NULL : __real_malloc(bytes);
}

int __wrap_wefti_dense_grow(struct wefti_dense *d, size_t item_bytes,
			    uint32_t count, uint32_t *first)
{
	return refuses ? -ENOMEM :
	       __real_wefti_dense_grow(d, item_bytes, count, first);
}

/* A message of a length, each with bytes of its own. */
static void fill(unsigned char *to, size_t n, size_t seed)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (unsigned char)(seed * 31 + i * 7 + 1);
}

static uint64_t pack(size_t n, size_t seed, struct wefti_vcpu *v)
{
	unsigned char message[LONGEST];
	uint64_t word = UINT64_MAX;

	fill(message, n, seed);
	CU_ASSERT_EQUAL_FATAL(wefti_message_pack(wefti_cell_class(n), message,
						 n, v, &word), 0);
	return word;
}

/* Is it what was packed, and written nowhere else? Uses it up. */
static int is_message(size_t n, size_t seed, struct wefti_vcpu *v,
		      uint64_t word)
{
	static unsigned char expected[LONGEST], got[LONGEST + 2];

	memset(got, 0xee, sizeof(got));
	fill(expected, n, seed);
	wefti_message_unpack(wefti_cell_class(n), got + 1, n, v, word);
	return memcmp(got + 1, expected, n) == 0 && got[0] == 0xee &&
	       got[n + 1] == 0xee;
}

/* The longest of each class, and the shortest. */
static const struct {
	size_t bytes;
	enum wefti_cell_class class;
} sizes[] = {
	{ 0, WEFTI_CELL_NONE }, { 8, WEFTI_CELL_NONE },
	{ 9, WEFTI_CELL_64 }, { 56, WEFTI_CELL_64 },
	{ 57, WEFTI_CELL_256 }, { 248, WEFTI_CELL_256 },
	{ 249, WEFTI_CELL_2048 }, { 2040, WEFTI_CELL_2048 },
	{ 2041, WEFTI_CELL_HEAP }, { LONGEST, WEFTI_CELL_HEAP },
	{ 0x7fffffff, WEFTI_CELL_HEAP },
};

#define SIZES	(sizeof(sizes) / sizeof(sizes[0]) - 1)	/* that are tried */

static void a_size_has_the_smallest_class_that_holds_it(void)
{
	for (size_t i = 0; i <= SIZES; i++)
		CU_ASSERT_EQUAL(wefti_cell_class(sizes[i].bytes),
				sizes[i].class);
}

static void messages_do_not_lie_in_each_others_place(void)
{
	static uint64_t word[MANY];

	for (size_t i = 0; i < SIZES; i++) {
		size_t n = sizes[i].bytes;

		for (size_t k = 0; k < MANY; k++) {
			word[k] = pack(n, k, NULL);
			if (sizes[i].class != WEFTI_CELL_NONE)
				CU_ASSERT_NOT_EQUAL(word[k], 0);
		}
		/* What is free beside them is linked, and new ones come. */
		for (size_t k = 0; k < MANY; k += 2)
			wefti_message_drop(sizes[i].class, NULL, word[k]);
		for (size_t k = 0; k < MANY; k += 4)
			word[k] = pack(n, k + 7, NULL);
		for (size_t k = 0; k < MANY; k++) {
			if (k % 4 == 2)
				continue;
			CU_ASSERT_TRUE(is_message(n, k % 4 ? k : k + 7, NULL,
						  word[k]));
		}
	}
}

/* The cell of a message that nobody wants: for others, or given back. */
static void what_is_dropped_or_unpacked_is_used_again(void)
{
	static struct wefti_vcpu vcpu = { .index = 3 };

	for (size_t i = 0; i < SIZES; i++) {
		enum wefti_cell_class class = sizes[i].class;
		size_t n = sizes[i].bytes;
		uint32_t before = 0;

		for (size_t k = 0; k < 6000; k++) {
			struct wefti_vcpu *v = k % 2 ? &vcpu : NULL;
			uint64_t word = pack(n, k, v);

			if (k % 3 == 0)
				wefti_message_drop(class, v, word);
			else if (k % 3 == 1)
				wefti_message_unpack(class, NULL, n, v, word);
			else
				CU_ASSERT_TRUE(is_message(n, k, v, word));
			if (class >= WEFTI_CELL_CLASSES)
				continue;
			if (k == 10)
				before = wefti_dense_limit(
						&wefti_cells[class].table);
			if (k > 10)
				CU_ASSERT_EQUAL(before, wefti_dense_limit(
						&wefti_cells[class].table));
		}
	}
}

/* A VCPU that only receives does not keep all cells from the senders. */
static void one_vcpus_cells_come_to_the_others(void)
{
	static struct wefti_vcpu from = { .index = 4 }, to = { .index = 5 };
	static uint64_t word[MANY];

	for (size_t i = 0; i < SIZES; i++) {
		enum wefti_cell_class class = sizes[i].class;
		uint32_t limit = 0;

		if (class >= WEFTI_CELL_CLASSES)
			continue;
		for (size_t round = 0; round < 50; round++) {
			for (size_t k = 0; k < MANY; k++)
				word[k] = pack(sizes[i].bytes, k, &from);
			for (size_t k = 0; k < MANY; k++)
				wefti_message_drop(class, &to, word[k]);
			if (round == 5)
				limit = wefti_dense_limit(
						&wefti_cells[class].table);
			CU_ASSERT_TRUE(wefti_cells[class].local[5].count <=
				WEFTI_STOCK_LOCAL / (64u << 2 * class));
		}
		/* 50 * MANY messages, and room for some hundreds. */
		CU_ASSERT_TRUE(wefti_dense_limit(&wefti_cells[class].table) <=
			       limit + 2 * WEFTI_STOCK_BATCH);
	}
}

static void without_memory_a_long_message_is_refused(void)
{
	static unsigned char message[LONGEST];
	static uint64_t word[1 << 16];
	const size_t most = sizeof(word) / sizeof(word[0]);

	for (size_t i = 0; i < SIZES; i++) {
		enum wefti_cell_class class = sizes[i].class;
		size_t n = 0, bytes = sizes[i].bytes;
		int error = 0;

		if (class == WEFTI_CELL_NONE)
			continue;
		refuses = 1;
		while (n < most && !(error = wefti_message_pack(class, message,
						bytes, NULL, &word[n])))
			n++;
		refuses = 0;
		CU_ASSERT_EQUAL(error, -ENOMEM);
		/* One that is given back can be had again. */
		if (n > 0) {
			wefti_message_drop(class, NULL, word[n - 1]);
			refuses = class < WEFTI_CELL_CLASSES;
			CU_ASSERT_EQUAL(wefti_message_pack(class, message,
					bytes, NULL, &word[n - 1]), 0);
			refuses = 0;
		}
		while (n > 0)
			wefti_message_drop(class, NULL, word[--n]);
		CU_ASSERT_TRUE(is_message(bytes, 1, NULL, pack(bytes, 1,
							       NULL)));
	}
}

static const struct test_case cases[] = {
	TEST(a_size_has_the_smallest_class_that_holds_it),
	TEST(messages_do_not_lie_in_each_others_place),
	TEST(what_is_dropped_or_unpacked_is_used_again),
	TEST(one_vcpus_cells_come_to_the_others),
	TEST(without_memory_a_long_message_is_refused),
};

TEST_MAIN("chan/cell", cases)
