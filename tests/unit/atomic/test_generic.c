/* SPDX-License-Identifier: MIT */
/* test_generic.c - atomic/generic: objects of every size, at every place */
#include "atomic/names.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "wide.h"

#define SIZE_MAX_TRIED	200
#define CREW		4

static unsigned char place[SIZE_MAX_TRIED + 64] __attribute__((aligned(64)));

static void fill(unsigned char *to, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (unsigned char)(seed * 31 + i * 7 + 1);
}

/* All four functions on n bytes at an offset; the neighbours stay. */
static int all_of(size_t n, size_t offset)
{
	unsigned char *object = place + 16 + offset;
	unsigned char a[SIZE_MAX_TRIED] = { 0 }, b[SIZE_MAX_TRIED] = { 0 };
	unsigned char got[SIZE_MAX_TRIED];
	int ok = 1;

	memset(place, 0xee, sizeof(place));
	fill(a, n, 1);
	fill(b, n, 2);
	wefti_atomic_store(n, object, a, __ATOMIC_SEQ_CST);
	ok &= memcmp(object, a, n) == 0;
	wefti_atomic_load(n, object, got, __ATOMIC_SEQ_CST);
	ok &= memcmp(got, a, n) == 0;
	wefti_atomic_exchange(n, object, b, got, __ATOMIC_SEQ_CST);
	ok &= memcmp(got, a, n) == 0 && memcmp(object, b, n) == 0;

	/* One that fails: it differs in the last byte only. */
	memcpy(got, b, n);
	got[n - 1] ^= 1;
	ok &= !wefti_atomic_compare_exchange(n, object, got, a,
					     __ATOMIC_SEQ_CST,
					     __ATOMIC_SEQ_CST);
	ok &= memcmp(got, b, n) == 0 && memcmp(object, b, n) == 0;
	ok &= wefti_atomic_compare_exchange(n, object, got, a,
					    __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
	ok &= memcmp(object, a, n) == 0;

	/* One place for the new and the old. */
	wefti_atomic_exchange(n, object, b, b, __ATOMIC_SEQ_CST);
	ok &= memcmp(b, a, n) == 0;
	for (size_t i = 0; i < sizeof(place); i++)
		if (place + i < object || place + i >= object + n)
			ok &= place[i] == 0xee;
	return ok;
}

static void objects_of_every_size_at_every_place_are_what_was_stored(void)
{
	for (size_t n = 1; n <= SIZE_MAX_TRIED; n += n < 40 ? 1 : 23)
		for (size_t offset = 0; offset < 17; offset++)
			if (!all_of(n, offset)) {
				CU_ASSERT_EQUAL(n, 0);
				CU_ASSERT_EQUAL(offset, 0);
			}
}

static void is_lock_free_says_what_fits_the_words_of_the_cpu(void)
{
	unsigned char *p = place;
	int wide = (wefti_arch_wide_can() & WEFTI_WIDE_CAS) != 0;

	CU_ASSERT_TRUE(wefti_atomic_is_lock_free(1, p + 3));
	CU_ASSERT_TRUE(wefti_atomic_is_lock_free(3, p + 5));
	CU_ASSERT_TRUE(wefti_atomic_is_lock_free(8, NULL));
	CU_ASSERT_EQUAL(wefti_atomic_is_lock_free(16, p), wide);
	CU_ASSERT_EQUAL(wefti_atomic_is_lock_free(8, p + 4), wide);
	CU_ASSERT_FALSE(wefti_atomic_is_lock_free(16, p + 8));
	CU_ASSERT_FALSE(wefti_atomic_is_lock_free(8, p + 12));
	CU_ASSERT_FALSE(wefti_atomic_is_lock_free(24, p));
	CU_ASSERT_FALSE(wefti_atomic_is_lock_free(0, p));
}

/* Counters of n bytes, of which every 4 must be the same at every moment. */
static struct arena {
	size_t n, offset, turns;
	_Atomic size_t torn;
} arena;

static int is_torn(const uint32_t *v)
{
	for (size_t i = 1; i < arena.n / 4; i++)
		if (v[i] != v[0])
			return 1;
	return 0;
}

static void *count(void *arg)
{
	unsigned char *object = place + arena.offset;
	uint32_t old[16], new[16];

	(void)arg;
	for (size_t turn = 0; turn < arena.turns; turn++) {
		wefti_atomic_load(arena.n, object, old, __ATOMIC_ACQUIRE);
		do {
			if (is_torn(old))
				atomic_fetch_add(&arena.torn, 1);
			for (size_t i = 0; i < arena.n / 4; i++)
				new[i] = old[0] + 1;
		} while (!wefti_atomic_compare_exchange(arena.n, object, old,
					new, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE));
	}
	return NULL;
}

static void count_together(size_t n, size_t offset)
{
	pthread_t tid[CREW];
	uint32_t v[16];

	memset(place, 0, sizeof(place));
	arena.n = n;
	arena.offset = offset;
	arena.turns = test_scaled(20000);
	for (int i = 0; i < CREW; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&tid[i], NULL, count,
						     NULL), 0);
	for (int i = 0; i < CREW; i++)
		pthread_join(tid[i], NULL);
	wefti_atomic_load(n, place + offset, v, __ATOMIC_ACQUIRE);
	CU_ASSERT_EQUAL(v[0], CREW * arena.turns);
	CU_ASSERT_FALSE(is_torn(v));
	CU_ASSERT_EQUAL(atomic_load(&arena.torn), 0);
}

static void compare_exchange_loses_no_count_and_tears_nothing(void)
{
	count_together(8, 0);
	count_together(8, 4);		/* in two words */
	count_together(12, 0);
	count_together(16, 0);
	count_together(16, 8);		/* by the lock */
	count_together(24, 0);
	count_together(24, 3);		/* byte by byte */
	count_together(64, 32);
}

/* Two objects of three bytes in one word: neither loses what the other does. */
static void *count_three(void *arg)
{
	unsigned char *object = place + (uintptr_t)arg * 3;

	for (size_t turn = 0; turn < arena.turns; turn++) {
		unsigned char old[3], new[3];

		wefti_atomic_load(3, object, old, __ATOMIC_RELAXED);
		do {
			uint32_t v = old[0] | old[1] << 8 | old[2] << 16;

			v++;
			new[0] = (unsigned char)v;
			new[1] = (unsigned char)(v >> 8);
			new[2] = (unsigned char)(v >> 16);
		} while (!wefti_atomic_compare_exchange(3, object, old, new,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED));
	}
	return NULL;
}

static void neighbours_in_a_word_do_not_disturb_each_other(void)
{
	pthread_t tid[2];

	memset(place, 0, sizeof(place));
	arena.turns = test_scaled(50000);
	for (uintptr_t i = 0; i < 2; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&tid[i], NULL, count_three,
						     (void *)i), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(tid[i], NULL);
	for (int i = 0; i < 2; i++) {
		const unsigned char *o = place + i * 3;

		CU_ASSERT_EQUAL((size_t)(o[0] | o[1] << 8 | o[2] << 16),
				arena.turns);
	}
	CU_ASSERT_EQUAL(place[6] | place[7], 0);
}

static const struct test_case cases[] = {
	TEST(objects_of_every_size_at_every_place_are_what_was_stored),
	TEST(is_lock_free_says_what_fits_the_words_of_the_cpu),
	TEST(compare_exchange_loses_no_count_and_tears_nothing),
	TEST(neighbours_in_a_word_do_not_disturb_each_other),
};

TEST_MAIN("atomic/generic", cases)
