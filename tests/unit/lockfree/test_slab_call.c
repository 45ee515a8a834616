/* SPDX-License-Identifier: MIT */
/*
 * test_slab_call.c - lockfree/slab_call: what an address names, and what each
 * call does to an object's stamp
 */
#include "lockfree/slab.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "support.h"

#define IN_SLAB	((uint64_t)WEFTI_SLAB_GROUPS * WEFTI_SLAB_OBJECTS)

static struct weft_slab *make(uint64_t limit, uint32_t bytes, uint32_t threads)
{
	struct weft_slab_attr attr = { limit, bytes, threads };
	struct weft_slab *s = NULL;

	CU_ASSERT_EQUAL_FATAL(weft_slab_create(&s, &attr), 0);
	return s;
}

static char *take(struct weft_slab *s)
{
	char *object = weft_slab_alloc(s, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(object);
	return object;
}

static unsigned stamp_of(struct weft_slab *s, const void *object)
{
	return load_relaxed(wefti_slab_stamp(s, wefti_slab_index(s, object)));
}

/* IN or not: of the group's word. */
static int is_taken(struct weft_slab *s, const void *object)
{
	uint64_t index = wefti_slab_index(s, object);

	return load_relaxed(&wefti_slab_group_at(s, index /
			WEFTI_SLAB_OBJECTS)->word) >>
	       index % WEFTI_SLAB_OBJECTS & 1;
}

static int is_no_object(struct weft_slab *s, const void *at)
{
	return wefti_slab_index(s, at) == UINT64_MAX &&
	       weft_slab_ref(s, at) == 0 && weft_slab_publish(s, (void *)at) ==
	       -EINVAL && weft_slab_free(s, (void *)at) == -EINVAL;
}

/* In two slabs, of which one is made. */
static void an_index_is_one_object_and_an_object_one_index(void)
{
	static const uint32_t sizes[] = { 8, 24, 1000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct weft_slab *s = make(2 * IN_SLAB - 48, sizes[i], 1);

		take(s);
		for (uint64_t k = 0; k < IN_SLAB; k++) {
			char *at = wefti_slab_at(s, k);
			uint64_t ref = weft_slab_ref(s, at);

			CU_ASSERT_EQUAL(wefti_slab_index(s, at), k);
			CU_ASSERT_PTR_EQUAL(s->base + ref, at);
			CU_ASSERT_PTR_EQUAL(weft_slab_object(s, ref), at);
		}
		CU_ASSERT_TRUE(is_no_object(s, wefti_slab_at(s, IN_SLAB)));
		for (uint64_t k = 0; k < IN_SLAB; k++)
			take(s);
		CU_ASSERT_EQUAL(wefti_slab_index(s, wefti_slab_at(s, IN_SLAB)),
				IN_SLAB);
		weft_slab_close(s);
	}
}

static void what_lies_before_between_and_behind_is_no_object(void)
{
	struct weft_slab *s = make(2 * IN_SLAB - 48, 128, 1);
	char *slab, *first = wefti_slab_at(s, 0);

	CU_ASSERT_TRUE(is_no_object(s, first));		/* none is made */
	take(s);
	CU_ASSERT_FALSE(wefti_slab_index(s, first) == UINT64_MAX);
	CU_ASSERT_TRUE(is_no_object(s, NULL));
	CU_ASSERT_TRUE(is_no_object(s, s->base - 128));
	CU_ASSERT_TRUE(is_no_object(s, s->base));
	/* The slab's groups are as large as its objects here. */
	slab = s->base + s->shape.slabs_at;
	CU_ASSERT_TRUE(is_no_object(s, slab - 128));
	for (; slab < first; slab += 128)
		CU_ASSERT_TRUE(is_no_object(s, slab));
	CU_ASSERT_TRUE(is_no_object(s, s->base + s->shape.slabs_at +
				    s->shape.slab_bytes));
	CU_ASSERT_TRUE(is_no_object(s, s->base + s->shape.total_bytes));
	CU_ASSERT_TRUE(is_no_object(s, (void *)UINTPTR_MAX));

	/* A reference is as bad as what it refers to. */
	CU_ASSERT_PTR_NULL(weft_slab_object(s, 8));
	CU_ASSERT_PTR_NULL(weft_slab_object(s, s->shape.slabs_at));
	CU_ASSERT_PTR_NULL(weft_slab_object(s, s->shape.total_bytes - 128));
	CU_ASSERT_PTR_NULL(weft_slab_object(s, s->shape.total_bytes));
	CU_ASSERT_PTR_NULL(weft_slab_object(s, 0 - (uint64_t)128));
	weft_slab_close(s);
}

static void a_stamp_says_whose_an_object_is(void)
{
	struct weft_slab *s = make(100, 64, 1);
	char *a = take(s), *b = weft_slab_reserve(s, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(b);
	CU_ASSERT_EQUAL(stamp_of(s, a), WEFTI_STAMP_LIVE);
	CU_ASSERT_EQUAL(stamp_of(s, b), WEFTI_STAMP_RESERVED | s->process);

	/* OUT -> MAGAZINE, and from there it is had again, with its contents. */
	strcpy(a, "what was there");
	CU_ASSERT_EQUAL(weft_slab_free(s, a), 0);
	CU_ASSERT_EQUAL(stamp_of(s, a), WEFTI_STAMP_FREE);
	CU_ASSERT_TRUE(is_taken(s, a));
	CU_ASSERT_PTR_EQUAL(take(s), a);
	CU_ASSERT_STRING_EQUAL(a, "what was there");

	/* What is only reserved goes IN, also in the own group. */
	CU_ASSERT_EQUAL(weft_slab_free(s, b), 0);
	CU_ASSERT_EQUAL(stamp_of(s, b), WEFTI_STAMP_FREEING | 0);
	CU_ASSERT_FALSE(is_taken(s, b));
	CU_ASSERT_EQUAL(weft_slab_free(s, b), -EALREADY);
	CU_ASSERT_EQUAL(weft_slab_publish(s, b), -EALREADY);

	b = weft_slab_reserve(s, NULL);
	CU_ASSERT_EQUAL(weft_slab_publish(s, b), 0);
	CU_ASSERT_EQUAL(stamp_of(s, b), WEFTI_STAMP_LIVE);
	CU_ASSERT_EQUAL(weft_slab_free(s, b), 0);
	CU_ASSERT_EQUAL(stamp_of(s, b), WEFTI_STAMP_FREE);
	weft_slab_close(s);
}

static struct weft_slab *set;
static char *object;
static int result[3], was_taken;

static void *free_elsewhere(void *unused)
{
	int error = 0;

	result[2] = weft_slab_alloc(set, &error) ? 0 : error;
	result[0] = weft_slab_free(set, object);
	result[1] = weft_slab_free(set, object);
	was_taken = result[0] == 0 && is_taken(set, object);
	return unused;
}

static void in_another_thread(void *(*fn)(void *))
{
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, fn, NULL), 0);
	pthread_join(thread, NULL);
}

/* By the thread of slot 1. */
static void an_object_of_anothers_group_goes_in_by_way_of_its_slot(void)
{
	set = make(100, 64, 2);
	object = take(set);
	in_another_thread(free_elsewhere);
	CU_ASSERT_EQUAL(result[0], 0);
	CU_ASSERT_EQUAL(result[1], -EALREADY);
	CU_ASSERT_EQUAL(result[2], 0);
	CU_ASSERT_EQUAL(stamp_of(set, object), WEFTI_STAMP_FREEING | 1);
	CU_ASSERT_TRUE(was_taken);	/* HELD until the thread ended */
	CU_ASSERT_FALSE(is_taken(set, object));
	CU_ASSERT_EQUAL(load_relaxed(&set->slot[1].doing), 0);
	CU_ASSERT_EQUAL(weft_slab_free(set, object), -EALREADY);
	weft_slab_close(set);
}

#define HELD	WEFTI_SLAB_HELD

static char *objects[3 * HELD];

/* Frees all of them; then what it takes is what it freed last. */
static void *free_all(void *count)
{
	int n = (int)(intptr_t)count, held = 0;

	for (int i = 0; i < n; i++)
		CU_ASSERT_EQUAL(weft_slab_free(set, objects[i]), 0);
	for (int i = 0; i < n; i++)
		held += is_taken(set, objects[i]);
	/* Each time that there was no room, half of them were given back. */
	CU_ASSERT_EQUAL(held, n <= (int)HELD ? n :
			(int)HELD / 2 + 1 + (n - 1 - (int)HELD) % ((int)HELD / 2));
	for (int i = 0; i < held; i++) {
		char *o = i % 2 ? weft_slab_reserve(set, NULL) : take(set);

		CU_ASSERT_PTR_EQUAL(o, objects[n - 1 - i]);
		CU_ASSERT_EQUAL(stamp_of(set, o), i % 2 ? WEFTI_STAMP_RESERVED :
							  WEFTI_STAMP_LIVE);
	}
	for (int i = 0; i < held; i++)
		CU_ASSERT_EQUAL(weft_slab_free(set, objects[n - 1 - i]), 0);
	return NULL;
}

static void what_a_thread_frees_it_has_again(void)
{
	const size_t sizes[] = { 8, 24, 64, 4096 + 8 };
	const int counts[] = { 1, HELD, HELD + 1, 3 * HELD };

	for (unsigned s = 0; s < 4; s++)
		for (unsigned k = 0; k < 4; k++) {
			pthread_t thread;

			set = make(3 * HELD, sizes[s], 2);
			for (int i = 0; i < counts[k]; i++)
				objects[i] = take(set);
			CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, free_all,
						(void *)(intptr_t)counts[k]), 0);
			pthread_join(thread, NULL);
			/* Its end gave the others back, too. */
			for (int i = 0; i < counts[k]; i++)
				CU_ASSERT_FALSE(is_taken(set, objects[i]));
			weft_slab_close(set);
		}
}

static void *free_one(void *o)
{
	CU_ASSERT_EQUAL(weft_slab_free(set, o), 0);
	CU_ASSERT_EQUAL(weft_slab_free(set, o), -EALREADY);
	CU_ASSERT_EQUAL(weft_slab_free(set, (char *)o + 1), -EINVAL);
	CU_ASSERT_EQUAL(weft_slab_free(set, (char *)o - 16), -EINVAL);
	CU_ASSERT_TRUE(is_taken(set, o));
	return NULL;
}

/* Nobody would expect it to be there. */
static void in_a_set_of_weft_0_1_nothing_is_held(void)
{
	set = make(100, 64, 2);
	set->shape.version = WEFTI_SLAB_NOT_HELD;
	object = take(set);
	in_another_thread(free_elsewhere);
	CU_ASSERT_EQUAL(result[0], 0);
	CU_ASSERT_EQUAL(result[1], -EALREADY);
	CU_ASSERT_FALSE(was_taken);
	weft_slab_close(set);
}

/* The first and the last of each slab; a thread that is there knows of all slabs. */
static void any_object_of_any_slab_is_held(void)
{
	const uint64_t of[] = { 0, 47, 48, IN_SLAB - 1, IN_SLAB, 3 * IN_SLAB - 1 };

	set = make(3 * IN_SLAB, 24, 2);
	for (uint64_t i = 0; i < 3 * IN_SLAB; i++)
		take(set);
	for (unsigned i = 0; i < sizeof(of) / sizeof(*of); i++) {
		pthread_t thread;

		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, free_one,
					wefti_slab_at(set, of[i])), 0);
		pthread_join(thread, NULL);
	}
	weft_slab_close(set);
}

static void a_thread_without_a_magazine_frees_nothing(void)
{
	set = make(100, 64, 1);
	object = take(set);
	in_another_thread(free_elsewhere);
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(result[i], -EAGAIN);
	CU_ASSERT_EQUAL(stamp_of(set, object), WEFTI_STAMP_LIVE);

	/* A pointer that is none is told of all the same. */
	object++;
	in_another_thread(free_elsewhere);
	CU_ASSERT_EQUAL(result[0], -EINVAL);
	CU_ASSERT_EQUAL(weft_slab_free(set, object - 1), 0);
	weft_slab_close(set);
}

static void an_error_is_written_only_if_there_is_one(void)
{
	struct weft_slab *s = make(1, 8, 1);
	int error = 77;

	for (uint64_t i = 0; i < IN_SLAB; i++) {
		void *o = i % 2 ? weft_slab_alloc(s, &error) :
				  weft_slab_reserve(s, &error);

		CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	}
	CU_ASSERT_EQUAL(error, 77);
	CU_ASSERT_PTR_NULL(weft_slab_reserve(s, NULL));
	CU_ASSERT_PTR_NULL(weft_slab_reserve(s, &error));
	CU_ASSERT_EQUAL(error, -ENOSPC);
	weft_slab_close(s);
}

static void roots_are_eight_words_that_nobody_else_writes(void)
{
	struct weft_slab *s = make(1000, 8, 1);
	uint64_t *root[WEFT_SLAB_ROOTS];

	for (unsigned i = 0; i < WEFT_SLAB_ROOTS; i++) {
		root[i] = weft_slab_root(s, i);
		CU_ASSERT_PTR_NOT_NULL_FATAL(root[i]);
		CU_ASSERT_EQUAL(*root[i], 0);
		*root[i] = ~(uint64_t)i;
	}
	for (int i = 0; i < 1000; i++)
		take(s);
	weft_slab_leave(s);
	for (unsigned i = 0; i < WEFT_SLAB_ROOTS; i++) {
		CU_ASSERT_PTR_EQUAL(weft_slab_root(s, i), root[i]);
		CU_ASSERT_EQUAL(*root[i], ~(uint64_t)i);
	}
	CU_ASSERT_PTR_NULL(weft_slab_root(s, UINT32_MAX));
	weft_slab_close(s);
}

static const struct test_case cases[] = {
	TEST(an_index_is_one_object_and_an_object_one_index),
	TEST(what_lies_before_between_and_behind_is_no_object),
	TEST(a_stamp_says_whose_an_object_is),
	TEST(an_object_of_anothers_group_goes_in_by_way_of_its_slot),
	TEST(what_a_thread_frees_it_has_again),
	TEST(in_a_set_of_weft_0_1_nothing_is_held),
	TEST(any_object_of_any_slab_is_held),
	TEST(a_thread_without_a_magazine_frees_nothing),
	TEST(an_error_is_written_only_if_there_is_one),
	TEST(roots_are_eight_words_that_nobody_else_writes),
};

TEST_MAIN("lockfree/slab_call", cases)
