/* SPDX-License-Identifier: MIT */
/*
 * test_small.c - atomic/small: which words an object lies in, and that what lies
 * beside it in them is another's
 */
#include "atomic/small.h"

#include <pthread.h>
#include <string.h>

#include "lockfree/atomic.h"
#include "support.h"
#include "wide.h"

static unsigned char place[64] __attribute__((aligned(64)));

static int can_wide(void)
{
	return (wefti_arch_wide_can() & WEFTI_WIDE_CAS) != 0;
}

/* The fewest bytes, aligned, that the object lies in: 0 if there are none. */
static unsigned bytes_of(uintptr_t at, size_t n, int wide)
{
	for (unsigned bytes = 1; bytes <= 16; bytes *= 2) {
		int is_whole = bytes == n && at % bytes == 0;

		if (bytes == 16 && !wide)
			break;
		if (is_whole || (bytes >= 8 && n && at / bytes ==
				 (at + n - 1) / bytes))
			return bytes;
	}
	return 0;
}

static void check_places(void)
{
	for (size_t n = 0; n <= 20; n++)
		for (size_t offset = 0; offset < 17; offset++) {
			struct wefti_small s = { NULL, 77, 77 };
			unsigned char *object = place + 16 + offset;
			unsigned bytes = bytes_of((uintptr_t)object, n,
						  can_wide());

			CU_ASSERT_EQUAL(wefti_small_find(&s, object, n),
					bytes != 0);
			if (!bytes) {
				CU_ASSERT_EQUAL(s.bytes, 77);
				continue;
			}
			CU_ASSERT_EQUAL(s.bytes, bytes);
			CU_ASSERT_EQUAL((uintptr_t)s.at % bytes, 0);
			CU_ASSERT_PTR_EQUAL(s.at + s.offset, object);
			CU_ASSERT_TRUE(s.offset + n <= bytes);
		}
}

static void an_object_lies_in_the_fewest_words_that_hold_it(void)
{
	check_places();
}

/* As on a processor of 2004, where the lock is all that is left. */
static void without_wide_words_only_single_ones_hold_it(void)
{
	unsigned flags = wefti_arch_wide_can();
	struct wefti_small s;

	wefti_arch_wide_flags = WEFTI_WIDE_KNOWN;
	check_places();
	CU_ASSERT_FALSE(wefti_small_find(&s, place, 16));
	CU_ASSERT_FALSE(wefti_small_find(&s, place + 7, 2));
	CU_ASSERT_TRUE(wefti_small_find(&s, place + 5, 3));
	wefti_arch_wide_flags = flags;
}

static void fill(unsigned char *to, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (unsigned char)(seed * 31 + i * 7 + 1);
}

/* Every operation; returns 1 when all did what they should. */
static int all_of(const struct wefti_small *s, size_t n)
{
	unsigned char a[16], b[16], e[16], *object = s->at + s->offset;
	int ok = 1;

	memset(place, 0xee, sizeof(place));
	fill(a, n, 1);
	fill(b, n, 2);
	wefti_small_exchange(s, a, e, n);
	for (size_t i = 0; i < n; i++)
		ok &= e[i] == 0xee;
	ok &= memcmp(object, a, n) == 0;
	/* Whichever byte it is that differs, it fails and says what is there. */
	for (size_t i = 0; i < n; i++) {
		memcpy(e, a, n);
		e[i] ^= 0x80;
		ok &= !wefti_small_cas(s, e, b, n) && memcmp(e, a, n) == 0;
		ok &= memcmp(object, a, n) == 0;
	}
	ok &= wefti_small_cas(s, e, b, n) && memcmp(e, a, n) == 0;
	wefti_small_load(s, e, n);
	ok &= memcmp(e, b, n) == 0 && memcmp(object, b, n) == 0;
	wefti_small_exchange(s, a, a, n);	/* one place for both */
	ok &= memcmp(a, b, n) == 0;
	for (size_t i = 0; i < sizeof(place); i++)
		if (place + i < object || place + i >= object + n)
			ok &= place[i] == 0xee;
	return ok;
}

static void operations_change_the_object_alone(void)
{
	unsigned flags = wefti_arch_wide_can();

	/* Twice: a processor may have no load of 16 bytes, and then uses CAS. */
	for (int i = 0; i < 2; i++) {
		for (size_t n = 1; n <= 16; n++)
			for (size_t offset = 0; offset < 16; offset++) {
				struct wefti_small s;

				if (wefti_small_find(&s, place + 16 + offset,
						     n))
					CU_ASSERT_TRUE(all_of(&s, n));
			}
		wefti_arch_wide_flags = flags & ~WEFTI_WIDE_LOAD;
	}
	wefti_arch_wide_flags = flags;
}

struct neighbour {
	struct wefti_small s;
	size_t n;
	_Atomic size_t changes;
	_Atomic unsigned stop;
};

static void *change(void *arg)
{
	struct neighbour *of = arg;
	unsigned char v[16], old[16];

	for (unsigned i = 0; !load_seq_cst(&of->stop); i++) {
		fill(v, of->n, i);
		wefti_small_exchange(&of->s, v, old, of->n);
		fetch_add_relaxed(&of->changes, 1);
	}
	return NULL;
}

/* A CAS that expects what the object is succeeds, whatever changes beside it. */
static void try_beside(size_t at, size_t n, size_t beside, size_t bytes)
{
	struct neighbour other = { .n = bytes };
	unsigned char v[16] = { 0 }, e[16];
	struct wefti_small s;
	size_t failed = 0, most = test_scaled(20000);
	pthread_t tid;

	if (!wefti_small_find(&s, place + at, n) ||
	    !wefti_small_find(&other.s, place + beside, bytes))
		return;
	memset(place, 0, sizeof(place));
	CU_ASSERT_EQUAL_FATAL(pthread_create(&tid, NULL, change, &other), 0);
	for (size_t i = 0; i < most || load_relaxed(&other.changes) < most;
	     i++) {
		memcpy(e, v, n);
		fill(v, n, (unsigned)i);
		failed += !wefti_small_cas(&s, e, v, n);
		wefti_small_load(&s, e, n);
		failed += memcmp(e, v, n) != 0;
	}
	store_seq_cst(&other.stop, 1);
	pthread_join(tid, NULL);
	CU_ASSERT_EQUAL(failed, 0);
}

static void a_cas_does_not_fail_for_its_neighbours(void)
{
	try_beside(0, 3, 3, 5);		/* in a word */
	try_beside(5, 6, 11, 5);	/* in two */
	try_beside(1, 7, 8, 8);		/* in a word, beside a whole one */
	try_beside(7, 2, 0, 7);		/* in two, beside one in a word */
}

static const struct test_case cases[] = {
	TEST(an_object_lies_in_the_fewest_words_that_hold_it),
	TEST(without_wide_words_only_single_ones_hold_it),
	TEST(operations_change_the_object_alone),
	TEST(a_cas_does_not_fail_for_its_neighbours),
};

TEST_MAIN("atomic/small", cases)
