/* SPDX-License-Identifier: MIT */
/*
 * test_slab_limits.c - lockfree/slab: where a set ends
 *
 * These are the places in which uslab, the allocator that it comes from, goes
 * wrong. The last object is given to two threads, or one behind the end; the
 * heads of many slabs lie on the objects; the end of a mapping stays. uslab's
 * other faults are tried in test_slab.c (sizes that do not divide a slab,
 * several sets in one thread, misses while objects come and go).
 */
#include "weft/slab.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/call/shared_file.h"
#include "support.h"

#define CREW	4
#define IN_SLAB	(64u * 48)

static struct weft_slab *set;

static int by_address(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;

	return (x > y) - (x < y);
}

/* --- the last object */

struct taker {
	pthread_t thread;
	void *object[2 * IN_SLAB];
	size_t count;
	int error;
};

static pthread_barrier_t start, taken;

static void *take_all(void *arg)
{
	struct taker *t = arg;
	void *object;

	pthread_barrier_wait(&start);
	while ((object = weft_slab_alloc(set, &t->error)) != NULL)
		t->object[t->count++] = object;
	pthread_barrier_wait(&taken);	/* a magazine is kept until then */
	return NULL;
}

static void the_last_object_goes_to_one_thread(void)
{
	static const struct weft_slab_attr attr = { 2500, 64, CREW };
	static struct taker taker[CREW];
	static char *all[CREW * 2 * IN_SLAB];
	size_t rounds = test_scaled(40);

	pthread_barrier_init(&start, NULL, CREW);
	pthread_barrier_init(&taken, NULL, CREW);
	for (size_t round = 0; round < rounds; round++) {
		struct weft_slab_info info;
		size_t count = 0;

		CU_ASSERT_EQUAL_FATAL(weft_slab_create(&set, &attr), 0);
		for (int i = 0; i < CREW; i++) {
			taker[i].count = 0;
			CU_ASSERT_EQUAL_FATAL(
				pthread_create(&taker[i].thread, NULL,
					       take_all, &taker[i]), 0);
		}
		for (int i = 0; i < CREW; i++) {
			pthread_join(taker[i].thread, NULL);
			CU_ASSERT_EQUAL(taker[i].error, -ENOSPC);
			memcpy(all + count, taker[i].object,
			       taker[i].count * sizeof(void *));
			count += taker[i].count;
		}
		/* Nothing was given back, so no magazine has any. */
		CU_ASSERT_EQUAL(count, IN_SLAB);
		qsort(all, count, sizeof(void *), by_address);
		for (size_t i = 1; i < count; i++)
			CU_ASSERT_TRUE(all[i] - all[i - 1] >= 64);
		weft_slab_info(set, &info);
		CU_ASSERT_EQUAL(info.live, count);
		CU_ASSERT_NOT_EQUAL(weft_slab_ref(set, all[count - 1]), 0);
		weft_slab_close(set);
	}
	pthread_barrier_destroy(&start);
	pthread_barrier_destroy(&taken);
}

/* --- many slabs */

static void there_may_be_more_slabs_than_a_word_has_bits(void)
{
	static const struct weft_slab_attr attr = { 66 * IN_SLAB, 8, 1 };
	static uint64_t *object[68 * IN_SLAB];
	size_t count = 0, wrong = 0;

	CU_ASSERT_EQUAL_FATAL(weft_slab_create(&set, &attr), 0);
	while (count < 68 * IN_SLAB &&
	       (object[count] = weft_slab_alloc(set, NULL)) != NULL) {
		*object[count] = count;
		count++;
	}
	CU_ASSERT_TRUE(count >= 66 * IN_SLAB && count < 68 * IN_SLAB);
	for (size_t i = 0; i < count; i++)
		wrong += *object[i] != i || weft_slab_free(set, object[i]) != 0;
	CU_ASSERT_EQUAL(wrong, 0);
	for (size_t i = 0; i < count; i++)
		wrong += weft_slab_alloc(set, NULL) == NULL;
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_PTR_NULL(weft_slab_alloc(set, NULL));
	weft_slab_close(set);
}

/* --- the end of the mapping */

static int is_mapped(char *page)
{
	unsigned char there;

	return mincore(page, 1, &there) == 0;
}

static void a_closed_set_leaves_no_page_mapped(void)
{
	static const struct weft_slab_attr attr = { 10000, 213, 4 };
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct weft_slab_info info;
	char *object, *base, *last;

	CU_ASSERT_EQUAL_FATAL(weft_slab_create(&set, &attr), 0);
	object = weft_slab_alloc(set, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(object);
	base = object - weft_slab_ref(set, object);
	weft_slab_info(set, &info);
	last = base + (info.bytes - 1) / page * page;
	CU_ASSERT_TRUE(is_mapped(base) && is_mapped(last));
	weft_slab_close(set);
	CU_ASSERT_FALSE(is_mapped(base) || is_mapped(last));
}

/* --- the end of the disk */

static int refusal;			/* of space, if not 0 */

int __real_wefti_os_file_reserve(int fd, uint64_t begin, uint64_t bytes);
int __wrap_wefti_os_file_reserve(int fd, uint64_t begin, uint64_t bytes);

int __wrap_wefti_os_file_reserve(int fd, uint64_t begin, uint64_t bytes)
{
	return refusal ? refusal :
	       __real_wefti_os_file_reserve(fd, begin, bytes);
}

/* With a real disk, where one can be mounted: test_slab_file.c. */
static void without_space_nothing_is_lost(void)
{
	static const struct weft_slab_attr attr = { 3 * IN_SLAB, 64, 2 };
	int fd = memfd_create("weft-slab", MFD_CLOEXEC), error = 0;
	char path[64];
	void *object = NULL, *some = NULL;
	size_t count = 0;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	refusal = -ENOSPC;
	CU_ASSERT_EQUAL(weft_slab_create_file(&set, &attr, path, 0600),
			-ENOSPC);
	refusal = 0;
	CU_ASSERT_EQUAL_FATAL(weft_slab_create_file(&set, &attr, path, 0600),
			      0);
	for (; count < IN_SLAB; count++)
		CU_ASSERT_PTR_NOT_NULL_FATAL(some = weft_slab_alloc(set, NULL));
	refusal = -ENOSPC;
	CU_ASSERT_PTR_NULL(weft_slab_alloc(set, &error));
	CU_ASSERT_EQUAL(error, -ENOSPC);
	refusal = -EDQUOT;
	CU_ASSERT_PTR_NULL(weft_slab_reserve(set, &error));
	CU_ASSERT_EQUAL(error, -EDQUOT);

	/* What comes back can be had, and space again when there is some. */
	CU_ASSERT_EQUAL(weft_slab_free(set, some), 0);
	CU_ASSERT_PTR_NOT_NULL(weft_slab_alloc(set, NULL));
	CU_ASSERT_PTR_NULL(weft_slab_alloc(set, NULL));
	refusal = 0;
	while ((object = weft_slab_alloc(set, &error)) != NULL)
		count++;
	CU_ASSERT_EQUAL(error, -ENOSPC);
	CU_ASSERT_TRUE(count >= 3 * IN_SLAB && count % IN_SLAB == 0);
	weft_slab_close(set);
	close(fd);
}

static const struct test_case cases[] = {
	TEST(the_last_object_goes_to_one_thread),
	TEST(there_may_be_more_slabs_than_a_word_has_bits),
	TEST(a_closed_set_leaves_no_page_mapped),
	TEST(without_space_nothing_is_lost),
};

TEST_MAIN("lockfree/slab_limits", cases)
