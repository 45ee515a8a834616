/* SPDX-License-Identifier: MIT */
/*
 * test_coherence.c - bench/coherence/mesi: known patterns of accesses give known
 * transfers, and the atomics of a build for it tell of each access
 *
 * This program is such a build. The test decides which CPU an access is of.
 */
#include "lockfree/atomic.h"

#include <stdalign.h>
#include <string.h>

#include "coherence/mesi.h"
#include "lockfree/pair.h"
#include "support.h"

#define ROUNDS	100u

static unsigned cpu, socket_cpus;
static unsigned events[MESI_EVENTS], invalidated, far;
static const struct wefti_coherence_site *last;

void *wefti_coherence_touch(const struct wefti_coherence_site *site,
			    const volatile void *p)
{
	struct mesi_result r = mesi_access(p, cpu, (int)site->is_write, socket_cpus);

	events[r.event]++;
	invalidated += r.invalidated;
	far += (unsigned)r.is_far;
	last = site;
	return (void *)(uintptr_t)p;
}

/* Words of lines of their own, and two of one line. */
static struct {
	alignas(MESI_LINE) _Atomic uint32_t one;
	alignas(MESI_LINE) _Atomic uint32_t two;
	_Atomic uint32_t beside_two;
	alignas(MESI_LINE) struct wefti_pair pair;
	alignas(MESI_LINE) uint64_t plain;
} *w;

/* Each test has lines that no cache has. */
static void begin(void)
{
	static char memory[1 << 16];
	static size_t used;

	used += sizeof(*w) + MESI_LINE;
	CU_ASSERT_FATAL(used < sizeof(memory));
	w = (void *)(((uintptr_t)memory + used) & ~(uintptr_t)(MESI_LINE - 1));
	memset(events, 0, sizeof(events));
	invalidated = far = 0;
	cpu = socket_cpus = 0;
}

static unsigned transfers(void)
{
	return events[MESI_FETCH] + events[MESI_TAKE] + events[MESI_UPGRADE];
}

static void the_states_are_those_of_mesi(void)
{
	begin();
	CU_ASSERT_EQUAL(mesi_state(&w->one, 0), MESI_INVALID);
	(void)load_relaxed(&w->one);
	CU_ASSERT_EQUAL(mesi_state(&w->one, 0), MESI_EXCLUSIVE);
	store_relaxed(&w->one, 1);
	CU_ASSERT_EQUAL(mesi_state(&w->one, 0), MESI_MODIFIED);
	cpu = 1;
	(void)load_relaxed(&w->one);
	CU_ASSERT_EQUAL(mesi_state(&w->one, 0), MESI_SHARED);
	CU_ASSERT_EQUAL(mesi_state(&w->one, 1), MESI_SHARED);
	store_relaxed(&w->one, 2);
	CU_ASSERT_EQUAL(mesi_state(&w->one, 0), MESI_INVALID);
	CU_ASSERT_EQUAL(mesi_state(&w->one, 1), MESI_MODIFIED);
	CU_ASSERT_EQUAL(events[MESI_FIRST], 1);
	CU_ASSERT_EQUAL(events[MESI_HIT], 1);
	CU_ASSERT_EQUAL(events[MESI_FETCH], 1);
	CU_ASSERT_EQUAL(events[MESI_UPGRADE], 1);
}

static void a_cpu_alone_transfers_nothing(void)
{
	begin();
	for (unsigned i = 0; i < ROUNDS; i++) {
		fetch_add_relaxed(&w->one, 1);
		store_release(&w->two, i);
		(void)load_acquire(&w->beside_two);
	}
	CU_ASSERT_EQUAL(transfers(), 0);
	CU_ASSERT_EQUAL(events[MESI_FIRST], 2);
	CU_ASSERT_EQUAL(events[MESI_HIT], 3 * ROUNDS - 2);
}

static void writers_by_turns_take_the_line_at_each_write(void)
{
	begin();
	for (unsigned i = 0; i < ROUNDS; i++) {
		cpu = i % 2;
		fetch_add_relaxed(&w->one, 1);
	}
	CU_ASSERT_EQUAL(events[MESI_TAKE], ROUNDS - 1);
	CU_ASSERT_EQUAL(transfers(), ROUNDS - 1);
	CU_ASSERT_EQUAL(invalidated, ROUNDS - 1);
}

static void a_writer_and_readers_cost_a_fetch_each_and_an_upgrade(void)
{
	begin();
	for (unsigned i = 0; i < ROUNDS; i++) {
		cpu = 0;
		store_relaxed(&w->one, i);
		for (cpu = 1; cpu <= 300; cpu += 100)
			(void)load_relaxed(&w->one);
	}
	CU_ASSERT_EQUAL(events[MESI_FETCH], 3 * ROUNDS);
	CU_ASSERT_EQUAL(events[MESI_UPGRADE], ROUNDS - 1);
	CU_ASSERT_EQUAL(invalidated, 3 * (ROUNDS - 1));
}

static void readers_alone_share_a_line(void)
{
	begin();
	for (unsigned i = 0; i < ROUNDS; i++) {
		cpu = i % 4;
		(void)load_relaxed(&w->one);
	}
	CU_ASSERT_EQUAL(transfers(), 3);
}

static void words_of_one_line_disturb_each_other_and_of_two_do_not(void)
{
	begin();
	for (unsigned i = 0; i < ROUNDS; i++) {
		cpu = i % 2;
		store_relaxed(cpu ? &w->one : &w->two, i);
	}
	CU_ASSERT_EQUAL(transfers(), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		cpu = i % 2;
		store_relaxed(cpu ? &w->beside_two : &w->two, i);
	}
	CU_ASSERT_EQUAL(transfers(), ROUNDS - 1);
}

static void a_cas_that_fails_takes_the_line(void)
{
	uint32_t no = 7;

	begin();
	store_relaxed(&w->one, 1);
	cpu = 1;
	CU_ASSERT_FALSE(cas_acq_rel(&w->one, &no, 2));
	CU_ASSERT_EQUAL(events[MESI_TAKE], 1);
	CU_ASSERT_EQUAL(mesi_state(&w->one, 1), MESI_MODIFIED);
}

static void a_pair_and_a_plain_access_are_told_of(void)
{
	struct wefti_wide e = { 0, 0 }, d = { 1, 1 };

	begin();
	CU_ASSERT_TRUE(pair_cas_acq_rel(&w->pair, &e, d));
	plain_write(&w->plain);
	cpu = 1;
	CU_ASSERT_EQUAL(pair_hi_relaxed(&w->pair), 1);
	plain_read(&w->plain);
	CU_ASSERT_EQUAL(events[MESI_FETCH], 2);
}

static void a_place_has_its_line_and_its_address_as_written(void)
{
	begin();
	store_relaxed(&w->two, 1); unsigned line = __LINE__;
	CU_ASSERT_EQUAL(last->line, line);
	CU_ASSERT_TRUE(last->is_write);
	CU_ASSERT_STRING_EQUAL(last->what, "&w->two");
	(void)load_relaxed(&w->two);
	CU_ASSERT_FALSE(last->is_write);
}

static void a_transfer_is_far_if_no_near_cache_has_the_line(void)
{
	begin();
	socket_cpus = 2;
	store_relaxed(&w->one, 1);
	cpu = 1;
	(void)load_relaxed(&w->one);	/* from 0: near */
	CU_ASSERT_EQUAL(far, 0);
	cpu = 2;
	(void)load_relaxed(&w->one);	/* from the other socket */
	CU_ASSERT_EQUAL(far, 1);
	cpu = 3;
	(void)load_relaxed(&w->one);	/* from 2 */
	CU_ASSERT_EQUAL(far, 1);
	store_relaxed(&w->one, 2);	/* 0 and 1 lose it */
	CU_ASSERT_EQUAL(far, 2);
	CU_ASSERT_EQUAL(invalidated, 3);
}

static const struct test_case cases[] = {
	TEST(the_states_are_those_of_mesi),
	TEST(a_cpu_alone_transfers_nothing),
	TEST(writers_by_turns_take_the_line_at_each_write),
	TEST(a_writer_and_readers_cost_a_fetch_each_and_an_upgrade),
	TEST(readers_alone_share_a_line),
	TEST(words_of_one_line_disturb_each_other_and_of_two_do_not),
	TEST(a_cas_that_fails_takes_the_line),
	TEST(a_pair_and_a_plain_access_are_told_of),
	TEST(a_place_has_its_line_and_its_address_as_written),
	TEST(a_transfer_is_far_if_no_near_cache_has_the_line),
};

TEST_MAIN("lockfree/coherence", cases)
