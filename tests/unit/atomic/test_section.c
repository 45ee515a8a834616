/* SPDX-License-Identifier: MIT */
/*
 * test_section.c - atomic/section: an object's entry, what its states let a
 * reader see, and what the runtime is told
 */
#include "atomic/names.h"
#include "atomic/section.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "forked.h"

#define ENTRIES	(1u << WEFTI_ATOMIC_ENTRY_BITS)

static unsigned char place[128] __attribute__((aligned(64)));

/* The runtime's, in its place. */
static struct wefti_atomic_entry *watched;
static _Atomic unsigned off, on, wrong;
static _Atomic(void *) given_back;

void *weft_preempt_off(void)
{
	off++;
	wrong += watched && load_relaxed(&watched->lock) != 0;
	return (void *)&off;
}

void weft_preempt_on(void *held)
{
	on++;
	wrong += watched && load_relaxed(&watched->lock) != 0;
	given_back = held;
}

static void an_object_has_one_entry_and_neighbours_have_others(void)
{
	static unsigned char used[ENTRIES];
	unsigned count = 0;

	CU_ASSERT_EQUAL(sizeof(struct wefti_atomic_entry) % CACHE_LINE, 0);
	CU_ASSERT_EQUAL((uintptr_t)wefti_atomic_table % CACHE_LINE, 0);
	for (uintptr_t word = 0; word < ENTRIES; word++) {
		uintptr_t at = 0x1000 + word * WEFTI_ATOMIC_WORD;
		struct wefti_atomic_entry *e =
			wefti_atomic_entry_of((void *)at);
		size_t index = (size_t)(e - wefti_atomic_table);

		CU_ASSERT_FATAL(index < ENTRIES);
		count += !used[index];
		used[index] = 1;
		for (uintptr_t i = 1; i < WEFTI_ATOMIC_WORD; i++)
			CU_ASSERT_PTR_EQUAL(e,
					wefti_atomic_entry_of((void *)(at + i)));
		CU_ASSERT_PTR_NOT_EQUAL(e, wefti_atomic_entry_of(
				(void *)(at + WEFTI_ATOMIC_WORD)));
	}
	/* An array as long as the table uses most of it. */
	CU_ASSERT_TRUE(count > ENTRIES / 4 * 3);
}

static void a_section_has_the_lock_and_the_runtime_knows_of_it(void)
{
	struct wefti_atomic_section s;

	watched = wefti_atomic_entry_of(place);
	off = on = wrong = 0;
	s = wefti_atomic_begin(place);
	CU_ASSERT_PTR_EQUAL(s.entry, watched);
	CU_ASSERT_EQUAL(off, 1);
	CU_ASSERT_EQUAL(on, 0);
	CU_ASSERT_FALSE(wefti_lock_take(&watched->lock));
	wefti_atomic_end(&s);
	CU_ASSERT_EQUAL(on, 1);
	CU_ASSERT_PTR_EQUAL(given_back, &off);
	CU_ASSERT_EQUAL(wrong, 0);	/* told before and behind the lock */
	CU_ASSERT_TRUE(wefti_lock_take(&watched->lock));
	wefti_lock_unlock(&watched->lock, WEFTI_LOCK_PRIVATE);
	watched = NULL;
}

static void a_reader_is_refused_while_it_is_written(void)
{
	uint64_t one[3] = { 1, 2, 3 }, two[3] = { 4, 5, 6 };
	uint64_t got[3] = { 7, 7, 7 };
	struct wefti_atomic_section s = wefti_atomic_begin(place);
	uint64_t version = load_relaxed(&s.entry->version);

	CU_ASSERT_EQUAL(version % 2, 0);
	wefti_atomic_put(place, one, sizeof(one));
	/* STILL, although the lock is held. */
	CU_ASSERT_TRUE(wefti_atomic_peek(s.entry, got, place, sizeof(got)));
	CU_ASSERT_EQUAL(memcmp(got, one, sizeof(got)), 0);
	wefti_atomic_open(&s);
	CU_ASSERT_EQUAL(load_relaxed(&s.entry->version), version + 1);
	wefti_atomic_put(place, two, 2 * sizeof(*two));
	CU_ASSERT_FALSE(wefti_atomic_peek(s.entry, got, place, sizeof(got)));
	CU_ASSERT_FALSE(wefti_atomic_peek_three(s.entry, got, place));
	CU_ASSERT_EQUAL(memcmp(got, one, sizeof(got)), 0);
	wefti_atomic_put(place + 2 * sizeof(*two), two + 2, sizeof(*two));
	wefti_atomic_close(&s);
	CU_ASSERT_EQUAL(load_relaxed(&s.entry->version), version + 2);
	wefti_atomic_end(&s);
	CU_ASSERT_TRUE(wefti_atomic_peek_three(s.entry, got, place));
	CU_ASSERT_EQUAL(memcmp(got, two, sizeof(got)), 0);
}

/* n bytes at `at`: put, looked at, compared; what is around them stays. */
static int is_whole(unsigned char *at, size_t n)
{
	unsigned char from[48], got[48];
	int ok = 1;

	memset(place, 0xee, sizeof(place));
	for (size_t i = 0; i < n; i++)
		from[i] = (unsigned char)(i * 7 + n);
	wefti_atomic_put(at, from, n);
	ok &= memcmp(at, from, n) == 0;
	wefti_atomic_copy(got, at, n);
	ok &= memcmp(got, from, n) == 0;
	ok &= wefti_atomic_is_equal(at, from, n);
	for (size_t i = 0; i < n; i++) {
		from[i] ^= 0x10;
		ok &= !wefti_atomic_is_equal(at, from, n);
		from[i] ^= 0x10;
	}
	for (size_t i = 0; i < sizeof(place); i++)
		if (place + i < at || place + i >= at + n)
			ok &= place[i] == 0xee;
	return ok;
}

static void every_byte_of_an_object_counts_and_no_other(void)
{
	for (size_t n = 0; n <= 40; n++)
		for (size_t offset = 0; offset < 9; offset++) {
			unsigned char *at = place + 16 + offset;
			size_t whole = wefti_atomic_whole(at, n);

			CU_ASSERT_TRUE(is_whole(at, n));
			CU_ASSERT_EQUAL(whole, offset % 8 ? 0 : n - n % 8);
			CU_ASSERT_EQUAL(wefti_atomic_is_three(at, n),
					n == 24 && offset % 8 == 0);
		}
}

static void three_words_are_done_as_any_others(void)
{
	uint64_t from[3] = { 11, 22, 33 }, got[3] = { 0, 0, 0 };

	memset(place, 0xee, sizeof(place));
	wefti_atomic_put_three(place + 8, from);
	CU_ASSERT_EQUAL(memcmp(place + 8, from, sizeof(from)), 0);
	CU_ASSERT_TRUE(place[7] == 0xee && place[32] == 0xee);
	wefti_atomic_copy_three(got, place + 8);
	CU_ASSERT_EQUAL(memcmp(got, from, sizeof(from)), 0);
	CU_ASSERT_TRUE(wefti_atomic_is_equal_three(place + 8, from));
	for (int i = 0; i < 3; i++) {
		from[i]++;
		CU_ASSERT_FALSE(wefti_atomic_is_equal_three(place + 8, from));
		from[i]--;
	}
}

/* Without a lock or another try: what a peek gives is of one moment. */
static _Atomic unsigned stop;
static _Atomic size_t seen;
static size_t torn;

static void *peek(void *arg)
{
	const struct wefti_atomic_entry *e = wefti_atomic_entry_of(place);
	unsigned char v[24];

	(void)arg;
	while (!load_seq_cst(&stop)) {
		if (!wefti_atomic_peek(e, v, place, sizeof(v)))
			continue;
		fetch_add_relaxed(&seen, 1);
		for (size_t i = 1; i < sizeof(v); i++)
			torn += v[i] != v[0];
		if (!wefti_atomic_peek_three(e, v, place))
			continue;
		for (size_t i = 1; i < sizeof(v); i++)
			torn += v[i] != v[0];
	}
	return NULL;
}

static void what_a_reader_gets_is_never_torn(void)
{
	size_t most = test_scaled(50000);
	unsigned char v[24];
	pthread_t tid;

	memset(place, 0, sizeof(place));
	CU_ASSERT_EQUAL_FATAL(pthread_create(&tid, NULL, peek, NULL), 0);
	for (size_t i = 0; i < most || load_relaxed(&seen) < most; i++) {
		struct wefti_atomic_section s = wefti_atomic_begin(place);

		memset(v, (int)i, sizeof(v));
		wefti_atomic_open(&s);
		wefti_atomic_put(place, v, sizeof(v));
		wefti_atomic_close(&s);
		wefti_atomic_end(&s);
	}
	store_seq_cst(&stop, 1);
	pthread_join(tid, NULL);
	CU_ASSERT_EQUAL(torn, 0);
}

/* --- the child of a fork -------------------------------------------- */

static _Atomic unsigned held;
static uint64_t three[3];
static _Alignas(8) uint64_t others[3];

/* Stops in its section, with half of a write done. */
static void *stop_inside(void *unused)
{
	struct wefti_atomic_section s = wefti_atomic_begin(three);

	wefti_atomic_open(&s);
	wefti_atomic_put(three, &(uint64_t){ 1 }, sizeof(uint64_t));
	store_seq_cst(&held, 1u);
	while (!load_seq_cst(&stop))
		sched_yield();
	wefti_atomic_close(&s);
	wefti_atomic_end(&s);
	return unused;
}

static void *want_it(void *unused)
{
	wefti_atomic_store(sizeof(three), three, others, 0);
	return unused;
}

static void use_as_child(void)
{
	const uint64_t new[3] = { 7, 8, 9 };
	uint64_t got[3];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	wefti_atomic_load(sizeof(three), three, got, 0);
	wefti_atomic_store(sizeof(three), three, new, 0);
	wefti_atomic_exchange(sizeof(three), three, others, got, 0);
	must(memcmp(got, new, sizeof(got)) == 0);
	memset(got, 0, sizeof(got));
	must(wefti_atomic_compare_exchange(sizeof(three), three, got, new, 0, 0));
	wefti_atomic_load(sizeof(three), three, got, 0);
	must(memcmp(got, new, sizeof(got)) == 0);
	must(load_relaxed(&wefti_atomic_entry_of(three)->version) % 2 == 0);
	must(load_relaxed(&wefti_atomic_entry_of(three)->lock) == 0);
}

static void a_childs_entry_is_not_that_of_another_thread(void)
{
	pthread_t owner, waiter;

	store_seq_cst(&stop, 0u);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&owner, NULL, stop_inside, NULL), 0);
	while (!load_seq_cst(&held))
		sched_yield();
	CU_ASSERT_EQUAL_FATAL(pthread_create(&waiter, NULL, want_it, NULL), 0);
	while (load_seq_cst(&wefti_atomic_entry_of(three)->lock) == WEFTI_LOCK_OWNED)
		sched_yield();
	child_is_well(use_as_child);
	store_seq_cst(&stop, 1u);
	pthread_join(owner, NULL);
	pthread_join(waiter, NULL);
}

static struct wefti_atomic_section own;

static void end_own(void)
{
	wefti_atomic_close(&own);
	wefti_atomic_end(&own);
	use_as_child();
}

/* As when a handler forks on top of it. */
static void a_section_goes_on_in_the_child_of_its_thread(void)
{
	own = wefti_atomic_begin(three);
	wefti_atomic_open(&own);
	child_is_well(end_own);
	wefti_atomic_close(&own);
	wefti_atomic_end(&own);
}

static const struct test_case cases[] = {
	TEST(an_object_has_one_entry_and_neighbours_have_others),
	TEST(a_section_has_the_lock_and_the_runtime_knows_of_it),
	TEST(a_reader_is_refused_while_it_is_written),
	TEST(every_byte_of_an_object_counts_and_no_other),
	TEST(three_words_are_done_as_any_others),
	TEST(what_a_reader_gets_is_never_torn),
	TEST(a_childs_entry_is_not_that_of_another_thread),
	TEST(a_section_goes_on_in_the_child_of_its_thread),
};

TEST_MAIN("atomic/section", cases)
