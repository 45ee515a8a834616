/* SPDX-License-Identifier: MIT */
/*
 * test_segment.c - sync/segment: lives of a segment, its hints, and which
 * thread unlinks
 */
#include "sync/segment.h"

#include "no_memory.h"
#include "support.h"
#include "thread/bare.h"

static struct wefti_thread *self;

static uint64_t get(void)
{
	uint64_t link;

	if (!self)
		self = wefti_thread_bare(WEFTI_KIND_GREEN, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(self);
	link = wefti_seg_get(self);
	CU_ASSERT_FALSE_FATAL(wefti_link_is_none(link));
	return link;
}

static void is_fresh(uint64_t link)
{
	struct wefti_seg *seg = wefti_seg_of(link);

	CU_ASSERT_EQUAL(link & WEFTI_LINK_MARK, 0);
	CU_ASSERT_TRUE(wefti_seg_is_current(seg, link));
	CU_ASSERT_TRUE(wefti_link_is_none(load_relaxed(&seg->next)));
	CU_ASSERT_EQUAL(wefti_seg_hint(&seg->front, link), 0);
	CU_ASSERT_EQUAL(wefti_seg_hint(&seg->fill, link), 0);
	CU_ASSERT_FALSE(wefti_seg_is_retired(seg, link));
	for (unsigned i = 0; i < WEFTI_SEG_CELLS; i++)
		CU_ASSERT_EQUAL(load_relaxed(&seg->cell[i]),
				wefti_link_tag(link));
}

static void each_life_begins_empty_under_another_tag(void)
{
	uint64_t one = get(), two;
	struct wefti_seg *seg = wefti_seg_of(one);

	is_fresh(one);
	store_relaxed(&seg->cell[0], UINT64_MAX);
	store_relaxed(&seg->next, one);
	wefti_seg_set_hint(&seg->front, one, 1);
	wefti_seg_set_hint(&seg->fill, one, 2);
	store_relaxed(&seg->retired, (uint64_t)wefti_link_tag(one) << 32 |
		      WEFTI_SEG_CELLS);
	CU_ASSERT_EQUAL(wefti_seg_hint(&seg->front, one), 1);
	CU_ASSERT_EQUAL(wefti_seg_hint(&seg->fill, one), 2);
	CU_ASSERT_TRUE(wefti_seg_is_retired(seg, one));
	wefti_seg_free(self, one);
	CU_ASSERT_FALSE(wefti_seg_is_current(seg, one));

	two = get();
	CU_ASSERT_PTR_EQUAL_FATAL(wefti_seg_of(two), seg);
	CU_ASSERT_NOT_EQUAL(two, one);
	is_fresh(two);
	/*
	 * What a late thread writes for the life before is not read in this
	 * one.
	 */
	wefti_seg_set_hint(&seg->front, one, 5);
	CU_ASSERT_EQUAL(wefti_seg_hint(&seg->front, two), 0);
	CU_ASSERT_EQUAL(wefti_seg_hint(&seg->front, one), 5);
	wefti_seg_free(NULL, two);	/* as a thread without a VCPU */
	CU_ASSERT_FALSE(wefti_seg_is_current(seg, two));
}

static void a_tag_that_wraps_does_not_look_like_the_mark(void)
{
	uint64_t link = get();
	struct wefti_seg *seg = wefti_seg_of(link);

	wefti_seg_free(self, link);
	store_relaxed(&seg->tag, (uint32_t)WEFTI_LINK_TAG);
	link = get();
	CU_ASSERT_PTR_EQUAL_FATAL(wefti_seg_of(link), seg);
	CU_ASSERT_EQUAL(wefti_link_tag(link), WEFTI_LINK_TAG);
	is_fresh(link);
	wefti_seg_free(self, link);
	CU_ASSERT_EQUAL(load_relaxed(&seg->tag), 0);
	link = get();
	is_fresh(link);
	CU_ASSERT_EQUAL(wefti_link_tag(link), 0);
	wefti_seg_free(self, link);
}

static void only_one_with_a_next_is_unlinked(void)
{
	uint64_t first = get(), second = get();
	struct wefti_seg *seg = wefti_seg_of(first);
	_Atomic uint64_t from = first;

	CU_ASSERT_FALSE(wefti_seg_unlink(&from, first, self));
	CU_ASSERT_EQUAL(load_relaxed(&from), first);
	CU_ASSERT_TRUE(wefti_link_is_none(load_relaxed(&seg->next)));
	CU_ASSERT_TRUE(wefti_seg_is_current(seg, first));

	store_relaxed(&seg->next, second);
	CU_ASSERT_TRUE(wefti_seg_unlink(&from, first, self));
	CU_ASSERT_EQUAL(load_relaxed(&from), second);
	CU_ASSERT_FALSE(wefti_seg_is_current(seg, first));
	CU_ASSERT_TRUE(wefti_seg_is_current(wefti_seg_of(second), second));
	/* Once: by the same link it is another life's. */
	store_relaxed(&from, first);
	CU_ASSERT_FALSE(wefti_seg_unlink(&from, first, self));
	CU_ASSERT_EQUAL(load_relaxed(&from), first);
	wefti_seg_free(self, second);
}

static void a_thread_by_another_way_marks_it_and_leaves_it(void)
{
	uint64_t first = get(), second = get();
	struct wefti_seg *seg = wefti_seg_of(first);
	_Atomic uint64_t from = first, elsewhere = second;

	store_relaxed(&seg->next, second);
	CU_ASSERT_FALSE(wefti_seg_unlink(&elsewhere, first, self));
	CU_ASSERT_EQUAL(load_relaxed(&elsewhere), second);
	CU_ASSERT_TRUE(wefti_seg_is_current(seg, first));
	CU_ASSERT_EQUAL(load_relaxed(&seg->next), second | WEFTI_LINK_MARK);
	/* Another finishes it; the mark does not get into the list. */
	CU_ASSERT_TRUE(wefti_seg_unlink(&from, first, self));
	CU_ASSERT_EQUAL(load_relaxed(&from), second);
	CU_ASSERT_FALSE(wefti_seg_is_current(seg, first));
	wefti_seg_free(self, second);
}

static void without_memory_there_is_none(void)
{
	enum { MOST = 1 << 15 };
	static uint64_t link[MOST];
	int n = 0;

	link[n++] = get();
	no_memory = 1;
	while (n < MOST && (link[n] = wefti_seg_get(self)))
		n++;
	CU_ASSERT_TRUE_FATAL(n < MOST);
	CU_ASSERT_EQUAL(link[n], 0);
	wefti_seg_free(self, link[0]);
	CU_ASSERT_NOT_EQUAL(link[0] = wefti_seg_get(self), 0);
	no_memory = 0;
	for (int i = 0; i < n; i++)
		wefti_seg_free(self, link[i]);
}

static const struct test_case cases[] = {
	TEST(each_life_begins_empty_under_another_tag),
	TEST(a_tag_that_wraps_does_not_look_like_the_mark),
	TEST(only_one_with_a_next_is_unlinked),
	TEST(a_thread_by_another_way_marks_it_and_leaves_it),
	TEST(without_memory_there_is_none),
};

TEST_MAIN("sync/segment", cases)
