/* SPDX-License-Identifier: MIT */
/* test_slab.c - lockfree/slab: objects, limits, wrong use, many threads */
#include "weft/slab.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lockfree/atomic.h"
#include "support.h"

#define CREW	4
#define GROUP	48

static struct weft_slab *make(uint64_t limit, uint32_t bytes, uint32_t threads)
{
	struct weft_slab_attr attr = { limit, bytes, threads };
	struct weft_slab *s = NULL;

	CU_ASSERT_EQUAL_FATAL(weft_slab_create(&s, &attr), 0);
	return s;
}

static uint64_t live(struct weft_slab *s)
{
	struct weft_slab_info info;

	weft_slab_info(s, &info);
	return info.live;
}

/* All there are, in a new array. */
static size_t take_all(struct weft_slab *s, void ***out)
{
	struct weft_slab_info info;
	size_t most, count = 0;
	int error = 0;

	weft_slab_info(s, &info);
	most = info.bytes / info.object_bytes;
	*out = calloc(most, sizeof(void *));
	CU_ASSERT_PTR_NOT_NULL_FATAL(*out);
	for (;;) {
		void *object = weft_slab_alloc(s, &error);

		if (!object)
			break;
		CU_ASSERT_TRUE_FATAL(count < most);
		(*out)[count++] = object;
	}
	CU_ASSERT_EQUAL(error, -ENOSPC);
	return count;
}

static int by_address(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;

	return (x > y) - (x < y);
}

/* Among them sizes that do not divide what they lie in. */
static void objects_do_not_overlap_and_are_as_many_as_promised(void)
{
	static const uint32_t sizes[] = { 1, 8, 24, 64, 213, 1000, 4096 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct weft_slab *s = make(4000, sizes[i], 2);
		void **object;
		size_t count = take_all(s, &object);

		CU_ASSERT_TRUE(count >= 4000);
		CU_ASSERT_EQUAL(live(s), count);
		for (size_t k = 0; k < count; k++)
			memset(object[k], 0xff, sizes[i]);
		qsort(object, count, sizeof(void *), by_address);
		for (size_t k = 1; k < count; k++)
			CU_ASSERT_TRUE((char *)object[k] -
				       (char *)object[k - 1] >=
				       (ptrdiff_t)sizes[i]);
		for (size_t k = 0; k < count; k++)
			CU_ASSERT_EQUAL(weft_slab_free(s, object[k]), 0);
		CU_ASSERT_EQUAL(live(s), 0);
		free(object);
		CU_ASSERT_EQUAL(take_all(s, &object), count);
		free(object);
		weft_slab_close(s);
	}
}

static void attributes_out_of_range_are_refused(void)
{
	static const struct weft_slab_attr bad[] = {
		{ 0, 64, 1 }, { 100, 0, 1 }, { 100, (1u << 20) + 1, 1 },
		{ 100, 64, 16001 }, { UINT64_C(1) << 41, 64, 1 },
		{ UINT64_C(1) << 40, 1u << 20, 1 },
	};
	struct weft_slab *s = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(weft_slab_create(&s, &bad[i]), -EINVAL);
	CU_ASSERT_PTR_NULL(s);
}

static void wrong_pointers_and_second_frees_are_seen(void)
{
	struct weft_slab *s = make(1000, 64, 2), *other = make(1000, 64, 2);
	char *a[3 * GROUP], local;

	for (int i = 0; i < 3 * GROUP; i++) {
		a[i] = weft_slab_alloc(s, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(a[i]);
	}
	CU_ASSERT_EQUAL(weft_slab_free(s, &local), -EINVAL);
	CU_ASSERT_EQUAL(weft_slab_free(s, NULL), -EINVAL);
	CU_ASSERT_EQUAL(weft_slab_free(other, a[0]), -EINVAL);
	/* The first are in another group than the thread's own, the last not. */
	for (int i = 0; i < 3 * GROUP; i += GROUP + GROUP / 2) {
		CU_ASSERT_EQUAL(weft_slab_free(s, a[i] + 1), -EINVAL);
		CU_ASSERT_EQUAL(weft_slab_free(s, a[i] + 8), -EINVAL);
		CU_ASSERT_EQUAL(weft_slab_free(s, a[i]), 0);
		CU_ASSERT_EQUAL(weft_slab_free(s, a[i]), -EALREADY);
	}
	CU_ASSERT_EQUAL(weft_slab_ref(s, &local), 0);
	CU_ASSERT_EQUAL(weft_slab_ref(s, a[1] + 1), 0);
	CU_ASSERT_PTR_NULL(weft_slab_object(s, 0));
	CU_ASSERT_PTR_NULL(weft_slab_object(s, UINT64_MAX));
	CU_ASSERT_PTR_NULL(weft_slab_object(s, weft_slab_ref(s, a[1]) + 8));
	CU_ASSERT_PTR_EQUAL(weft_slab_object(s, weft_slab_ref(s, a[1])), a[1]);
	CU_ASSERT_PTR_NULL(weft_slab_root(s, WEFT_SLAB_ROOTS));
	CU_ASSERT_PTR_NOT_NULL(weft_slab_root(s, WEFT_SLAB_ROOTS - 1));
	weft_slab_close(other);
	weft_slab_close(s);
}

/*
 * Only the first byte of an object names it, in the thread's own group as in
 * others. Sizes are not powers of two only.
 */
static void only_the_first_byte_of_an_object_names_it(void)
{
	static const uint32_t sizes[] = { 8, 24, 64, 216, 1000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint32_t bytes = sizes[i];
		struct weft_slab *s = make(1000, bytes, 1);
		char *first = NULL, *object;

		for (int k = 0; k < 2 * GROUP; k++) {
			object = weft_slab_alloc(s, NULL);
			CU_ASSERT_PTR_NOT_NULL_FATAL(object);
			if (!first || object < first)
				first = object;
		}
		for (uint32_t at = 0; at < 2 * GROUP * bytes; at++)
			CU_ASSERT_EQUAL(weft_slab_free(s, first + at),
					at % bytes == 0 ? 0 : -EINVAL);
		for (uint32_t at = 0; at < 2 * GROUP * bytes; at++)
			CU_ASSERT_EQUAL(weft_slab_free(s, first + at),
					at % bytes == 0 ? -EALREADY : -EINVAL);
		CU_ASSERT_EQUAL(weft_slab_free(s, first - bytes), -EINVAL);
		CU_ASSERT_EQUAL(live(s), 0);
		weft_slab_close(s);
	}
}

#ifdef WEFT_DEBUG
static struct {
	struct weft_slab *slab;
	void *object;
	pthread_barrier_t turn;
	size_t rounds;
	_Atomic uint32_t freed, refused;
} twice;

static void free_it(void)
{
	int rc = weft_slab_free(twice.slab, twice.object);

	if (rc == 0)
		fetch_add_seq_cst(&twice.freed, 1u);
	else if (rc == -EALREADY)
		fetch_add_seq_cst(&twice.refused, 1u);
}

static void *free_it_too(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < twice.rounds; i++) {
		pthread_barrier_wait(&twice.turn);
		free_it();
		pthread_barrier_wait(&twice.turn);
	}
	return NULL;
}

/* By the group's owner and another, or by two others. */
static void frees_at_the_same_time(int owner_too)
{
	const unsigned others = owner_too ? 1 : 2;
	pthread_t thread[2];

	twice.slab = make(1000, 64, 3);
	twice.rounds = test_scaled(1000);
	store_seq_cst(&twice.freed, 0u);
	store_seq_cst(&twice.refused, 0u);
	pthread_barrier_init(&twice.turn, NULL, others + 1);
	for (unsigned i = 0; i < others; i++)
		pthread_create(&thread[i], NULL, free_it_too, NULL);
	for (size_t i = 0; i < twice.rounds; i++) {
		twice.object = weft_slab_alloc(twice.slab, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(twice.object);
		pthread_barrier_wait(&twice.turn);
		if (owner_too)
			free_it();
		pthread_barrier_wait(&twice.turn);
	}
	for (unsigned i = 0; i < others; i++)
		pthread_join(thread[i], NULL);
	CU_ASSERT_EQUAL(load_seq_cst(&twice.freed), twice.rounds);
	CU_ASSERT_EQUAL(load_seq_cst(&twice.refused), twice.rounds);
	CU_ASSERT_EQUAL(live(twice.slab), 0);
	pthread_barrier_destroy(&twice.turn);
	weft_slab_close(twice.slab);
}
#endif

/* The ordinary build does not pay for it; there it is undefined. */
static void the_checked_build_sees_two_frees_at_the_same_time(void)
{
#ifdef WEFT_DEBUG
	frees_at_the_same_time(1);
	frees_at_the_same_time(0);
#endif
}

static int count_one(void *object, void *arg)
{
	(void)object;
	++*(int *)arg;
	return 0;
}

static int stop_at_once(void *object, void *arg)
{
	(void)object;
	(void)arg;
	return 7;
}

static void reserved_objects_are_hidden_until_they_are_published(void)
{
	struct weft_slab *s = make(100, 16, 1);
	void *a = weft_slab_reserve(s, NULL), *b = weft_slab_reserve(s, NULL);
	int seen = 0;

	CU_ASSERT_EQUAL(weft_slab_each(s, count_one, &seen), 0);
	CU_ASSERT_EQUAL(seen, 0);
	CU_ASSERT_EQUAL(live(s), 2);
	CU_ASSERT_EQUAL(weft_slab_publish(s, a), 0);
	CU_ASSERT_EQUAL(weft_slab_publish(s, a), -EALREADY);
	CU_ASSERT_EQUAL(weft_slab_publish(s, (char *)a + 1), -EINVAL);
	CU_ASSERT_EQUAL(weft_slab_each(s, count_one, &seen), 0);
	CU_ASSERT_EQUAL(seen, 1);
	CU_ASSERT_EQUAL(weft_slab_each(s, stop_at_once, NULL), 7);
	CU_ASSERT_EQUAL(weft_slab_free(s, b), 0);
	CU_ASSERT_EQUAL(weft_slab_publish(s, b), -EALREADY);
	CU_ASSERT_EQUAL(weft_slab_free(s, a), 0);
	CU_ASSERT_EQUAL(weft_slab_recover(s), 0);
	weft_slab_close(s);
}

/* A thread that uses several does not take from one what it wants of another. */
static void sets_are_apart_and_can_be_made_again(void)
{
	for (int round = 0; round < 50; round++) {
		struct weft_slab *s[5];
		void *object[5];

		for (int i = 0; i < 5; i++) {
			s[i] = make(10, 8u << i, 1);
			object[i] = weft_slab_alloc(s[i], NULL);
		}
		for (int i = 0; i < 5; i++) {
			CU_ASSERT_NOT_EQUAL(weft_slab_ref(s[i], object[i]), 0);
			CU_ASSERT_EQUAL(weft_slab_ref(s[i], object[(i + 1) % 5]),
					0);
			CU_ASSERT_EQUAL(live(s[i]), 1);
		}
		for (int i = 0; i < 5; i++) {
			CU_ASSERT_EQUAL(weft_slab_free(s[i], object[i]), 0);
			weft_slab_close(s[i]);
		}
	}
}

/* --- threads */

static struct weft_slab *set;
static int results[CREW];

static void *take_one(void *arg)
{
	int error = 0;
	void *object = weft_slab_alloc(set, &error);

	if (object)
		error = weft_slab_free(set, object);
	*(int *)arg = error;
	return NULL;
}

static void magazines_come_back_when_threads_end(void)
{
	pthread_t t;
	void *own;

	set = make(100, 64, 2);
	own = weft_slab_alloc(set, NULL);
	for (size_t i = 0; i < 200; i++) {
		CU_ASSERT_EQUAL_FATAL(
			pthread_create(&t, NULL, take_one, &results[0]), 0);
		pthread_join(t, NULL);
		CU_ASSERT_EQUAL_FATAL(results[0], 0);
	}
	CU_ASSERT_EQUAL(weft_slab_free(set, own), 0);
	weft_slab_close(set);
}

static void a_thread_too_many_is_told_so(void)
{
	pthread_t t;
	void *own;

	set = make(100, 64, 1);
	own = weft_slab_alloc(set, NULL);
	CU_ASSERT_EQUAL_FATAL(
		pthread_create(&t, NULL, take_one, &results[0]), 0);
	pthread_join(t, NULL);
	CU_ASSERT_EQUAL(results[0], -EAGAIN);
	CU_ASSERT_EQUAL(weft_slab_free(set, own), 0);
	weft_slab_leave(set);
	weft_slab_leave(set);
	CU_ASSERT_EQUAL_FATAL(
		pthread_create(&t, NULL, take_one, &results[0]), 0);
	pthread_join(t, NULL);
	CU_ASSERT_EQUAL(results[0], 0);
	weft_slab_close(set);
}

/* An object says which thread owns it; others free some of them. */
#define SHELF	256

struct note {
	_Atomic uint64_t owner;		/* relaxed: only the owner looks */
	uint64_t plain;			/* shows races to ThreadSanitizer */
};

static _Atomic(struct note *) shelf[SHELF];
static size_t rounds;

static void *work(void *arg)
{
	uint64_t self = (uint64_t)(uintptr_t)arg + 1, random = self * 7919;
	struct note *own[64] = { NULL };

	for (size_t i = 0; i < rounds; i++) {
		struct note *n;
		size_t at;

		random = random * UINT64_C(6364136223846793005) + 1;
		at = random >> 33;
		if (!own[at % 64]) {
			n = weft_slab_alloc(set, NULL);
			if (!n || load_relaxed(&n->owner) != 0)
				return (void *)1;
			store_relaxed(&n->owner, self);
			n->plain = i;
			own[at % 64] = n;
			continue;
		}
		n = own[at % 64];
		own[at % 64] = NULL;
		if (load_relaxed(&n->owner) != self)
			return (void *)2;
		if (at & 64) {	/* another frees it */
			n = xchg_acq_rel(&shelf[at / 128 % SHELF], n);
			if (!n)
				continue;
		}
		n->plain++;
		store_relaxed(&n->owner, 0);
		if (weft_slab_free(set, n) != 0)
			return (void *)3;
	}
	for (int i = 0; i < 64; i++) {
		if (!own[i])
			continue;
		store_relaxed(&own[i]->owner, 0);
		if (weft_slab_free(set, own[i]) != 0)
			return (void *)4;
	}
	return NULL;
}

/* The limit is what can be out at once, so no allocation may fail. */
static void threads_never_share_an_object_and_never_miss_one(void)
{
	pthread_t t[CREW];
	void *result;
	uint64_t all;
	void **object;

	rounds = test_scaled(300000);
	set = make(CREW * 64 + SHELF, sizeof(struct note), CREW + 1);
	for (uintptr_t i = 0; i < CREW; i++)
		CU_ASSERT_EQUAL_FATAL(
			pthread_create(&t[i], NULL, work, (void *)i), 0);
	for (int i = 0; i < CREW; i++) {
		pthread_join(t[i], &result);
		CU_ASSERT_PTR_NULL(result);
	}
	for (int i = 0; i < SHELF; i++) {
		struct note *n = xchg_acq_rel(&shelf[i], NULL);

		if (!n)
			continue;
		store_relaxed(&n->owner, 0);
		CU_ASSERT_EQUAL(weft_slab_free(set, n), 0);
	}
	CU_ASSERT_EQUAL(live(set), 0);
	all = take_all(set, &object);
	CU_ASSERT_EQUAL(all % (64 * GROUP), 0);	/* none is lost */
	free(object);
	weft_slab_close(set);
}

static const struct test_case cases[] = {
	TEST(objects_do_not_overlap_and_are_as_many_as_promised),
	TEST(attributes_out_of_range_are_refused),
	TEST(wrong_pointers_and_second_frees_are_seen),
	TEST(only_the_first_byte_of_an_object_names_it),
	TEST(the_checked_build_sees_two_frees_at_the_same_time),
	TEST(reserved_objects_are_hidden_until_they_are_published),
	TEST(sets_are_apart_and_can_be_made_again),
	TEST(magazines_come_back_when_threads_end),
	TEST(a_thread_too_many_is_told_so),
	TEST(threads_never_share_an_object_and_never_miss_one),
};

TEST_MAIN("lockfree/slab", cases)
