/* SPDX-License-Identifier: MIT */
/* test_dense.c - mem/dense: each index once, zeros, and the end */
#include "mem/dense.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "os/call/vm.h"
#include "support.h"

#define CREW	4

static void dense_has_no_item_before_it_grows(void)
{
	static struct wefti_dense d;

	CU_ASSERT_EQUAL(wefti_dense_limit(&d), 0);
	CU_ASSERT_PTR_NULL(wefti_dense_at(&d, 24, 0));
	CU_ASSERT_PTR_NULL(wefti_dense_at(&d, 24, WEFTI_DENSE_MOST - 1));
	CU_ASSERT_PTR_NULL(wefti_dense_at(&d, 24, WEFTI_DENSE_MOST));
	CU_ASSERT_PTR_NULL(wefti_dense_at(&d, 24, UINT32_MAX));
}

/* 24 bytes: a chunk is not a whole number of 64 KiB pages. */
static void dense_gives_zeroed_items_that_do_not_overlap(void)
{
	static struct wefti_dense d;
	uint32_t limit = 0, first;

	/* 100 divides no chunk: some batches lie in two. */
	while (limit < 3 * WEFTI_DENSE_CHUNK) {
		CU_ASSERT_EQUAL_FATAL(wefti_dense_grow(&d, 24, 100, &first), 0);
		CU_ASSERT_EQUAL(first, limit);
		limit += 100;
		CU_ASSERT_EQUAL(wefti_dense_limit(&d), limit);
		for (uint32_t i = first; i < limit; i++) {
			static const char zeros[24];
			char *item = wefti_dense_at(&d, 24, i);

			CU_ASSERT_PTR_NOT_NULL_FATAL(item);
			CU_ASSERT_EQUAL(memcmp(item, zeros, 24), 0);
			memset(item, (int)(i % 251) + 1, 24);
		}
	}
	for (uint32_t i = 0; i < limit; i++) {
		const char *item = wefti_dense_at(&d, 24, i);

		CU_ASSERT_EQUAL((unsigned char)item[0], i % 251 + 1);
		CU_ASSERT_EQUAL((unsigned char)item[23], i % 251 + 1);
	}
}

static void dense_ends_at_its_limit_and_not_before(void)
{
	static struct wefti_dense d;
	uint32_t first = 0;

	for (uint32_t i = 0; i < WEFTI_DENSE_CHUNKS - 1; i++)
		CU_ASSERT_EQUAL_FATAL(wefti_dense_grow(&d, 1,
					WEFTI_DENSE_CHUNK, &first), 0);
	CU_ASSERT_EQUAL(wefti_dense_grow(&d, 1, WEFTI_DENSE_CHUNK + 1, &first),
			-ENOMEM);
	CU_ASSERT_EQUAL(wefti_dense_grow(&d, 1, WEFTI_DENSE_CHUNK - 1, &first),
			0);
	CU_ASSERT_EQUAL(first, WEFTI_DENSE_MOST - WEFTI_DENSE_CHUNK);
	CU_ASSERT_EQUAL(wefti_dense_grow(&d, 1, 2, &first), -ENOMEM);
	CU_ASSERT_EQUAL(first, WEFTI_DENSE_MOST - WEFTI_DENSE_CHUNK);
	CU_ASSERT_EQUAL(wefti_dense_grow(&d, 1, 1, &first), 0);
	CU_ASSERT_EQUAL(first, WEFTI_DENSE_MOST - 1);
	CU_ASSERT_EQUAL(wefti_dense_grow(&d, 1, 1, &first), -ENOMEM);
	CU_ASSERT_EQUAL(wefti_dense_limit(&d), WEFTI_DENSE_MOST);
	CU_ASSERT_PTR_NOT_NULL(wefti_dense_at(&d, 1, WEFTI_DENSE_MOST - 1));
	CU_ASSERT_PTR_NULL(wefti_dense_at(&d, 1, WEFTI_DENSE_MOST));
	for (uint32_t c = 0; c < WEFTI_DENSE_CHUNKS; c++)
		wefti_os_vm_unmap(load_relaxed(&d.chunk[c]),
				  wefti_os_page_size());
}

static struct wefti_dense shared;
static pthread_barrier_t start;

struct member {
	size_t turns, wrong;
};

/* owners is plain: one thread at a time has an index. Nobody writes unused. */
struct item {
	unsigned owners;
	unsigned unused[7];
};

/*
 * An index that came from somewhere, as an id does, of a chunk that another
 * may be making: there is nothing, or zeros.
 */
static int finds_garbage(uint32_t index)
{
	const struct item *item = wefti_dense_at(&shared, sizeof(*item), index);

	return item && item->unused[5] != 0;
}

static void *grower(void *arg)
{
	struct member *m = arg;
	uint32_t limit = 0;

	pthread_barrier_wait(&start);
	for (size_t t = 0; t < m->turns; t++) {
		const struct item *last;
		uint32_t first;

		for (uint32_t c = 0; c < 4; c++)
			m->wrong += (size_t)finds_garbage(limit +
						c * WEFTI_DENSE_CHUNK);
		if (wefti_dense_grow(&shared, sizeof(struct item), 48,
				     &first) != 0) {
			m->wrong++;
			continue;
		}
		for (uint32_t i = first; i < first + 48; i++) {
			struct item *item = wefti_dense_at(&shared,
						sizeof(*item), i);

			m->wrong += item->owners++ != 0;
		}
		/* What others have made is there, for walks. */
		limit = wefti_dense_limit(&shared);
		m->wrong += limit < first + 48;
		last = wefti_dense_at(&shared, sizeof(*last), limit - 1);
		m->wrong += !last || last->unused[6] != 0;
	}
	return NULL;
}

static void dense_gives_an_index_once_when_many_grow(void)
{
	struct member m[CREW];
	pthread_t tid[CREW];
	uint32_t turns = (uint32_t)test_scaled(3000);

	/* Also under a large scale there is room for all. */
	if (turns > WEFTI_DENSE_MOST / 48 / CREW)
		turns = WEFTI_DENSE_MOST / 48 / CREW;
	CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&start, NULL, CREW), 0);
	for (int i = 0; i < CREW; i++) {
		m[i] = (struct member){ .turns = turns };
		CU_ASSERT_EQUAL_FATAL(pthread_create(&tid[i], NULL, grower,
						     &m[i]), 0);
	}
	for (int i = 0; i < CREW; i++) {
		pthread_join(tid[i], NULL);
		CU_ASSERT_EQUAL(m[i].wrong, 0);
	}
	CU_ASSERT_EQUAL_FATAL(wefti_dense_limit(&shared), CREW * 48 * turns);
	for (uint32_t i = 0; i < CREW * 48 * turns; i++) {
		const struct item *item = wefti_dense_at(&shared,
							 sizeof(*item), i);

		CU_ASSERT_EQUAL(item->owners, 1);
	}
	pthread_barrier_destroy(&start);
}

static const struct test_case cases[] = {
	TEST(dense_has_no_item_before_it_grows),
	TEST(dense_gives_zeroed_items_that_do_not_overlap),
	TEST(dense_ends_at_its_limit_and_not_before),
	TEST(dense_gives_an_index_once_when_many_grow),
};

TEST_MAIN("mem/dense", cases)
