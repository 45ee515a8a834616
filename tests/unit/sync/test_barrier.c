/* SPDX-License-Identifier: MIT */
/*
 * test_barrier.c - sync/barrier: rounds, the serial thread, withdrawals, its
 * end
 */
#include "crowd.h"

#include "weft/barrier.h"

#define THREADS	16

static struct member members[CROWD_MOST];

static void one_that_was_not_made_is_refused(void)
{
	struct weft_barrier barrier = { { 0 } };

	CU_ASSERT_EQUAL(weft_barrier_wait(&barrier), -EINVAL);
	CU_ASSERT_EQUAL(weft_barrier_init(&barrier, 0), -EINVAL);
	CU_ASSERT_EQUAL(weft_barrier_init(&barrier, (1u << 20) + 1), -EINVAL);
	CU_ASSERT_EQUAL(weft_barrier_init(&barrier, 1u << 20), 0);
	CU_ASSERT_EQUAL(weft_barrier_destroy(&barrier), 0);
}

static void a_barrier_of_one_is_open(void)
{
	struct weft_barrier barrier;

	CU_ASSERT_EQUAL(weft_barrier_init(&barrier, 1), 0);
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(weft_barrier_wait(&barrier),
				WEFT_BARRIER_SERIAL);
	CU_ASSERT_EQUAL(weft_barrier_wait_until(&barrier, WEFT_NO_WAIT),
			WEFT_BARRIER_SERIAL);
	CU_ASSERT_EQUAL(weft_barrier_destroy(&barrier), 0);
}

struct meeting {
	struct weft_barrier barrier;
	size_t rounds;
	_Atomic uint64_t come, serial, timed_out;
};

static void meet_once(unsigned me, void *arg)
{
	struct meeting *m = arg;
	int result = weft_barrier_wait(&m->barrier);

	(void)me;
	must(result >= 0);
	fetch_add_seq_cst(&m->serial, (uint64_t)result);
}

static void a_withdrawal_does_not_count(void)
{
	struct meeting m = { .rounds = 1 };
	int64_t deadline = weft_clock() + 1000000;
	int last;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_barrier_init(&m.barrier, 3), 0);
	CU_ASSERT_EQUAL(weft_barrier_wait_until(&m.barrier, WEFT_NO_WAIT),
			-EAGAIN);
	CU_ASSERT_EQUAL(weft_barrier_wait_until(&m.barrier, deadline),
			-ETIMEDOUT);
	CU_ASSERT(weft_clock() >= deadline);
	CU_ASSERT_EQUAL(weft_barrier_destroy(&m.barrier), 0);
	member_start(&members[0], 0, meet_once, &m);
	until_waits_for(&members[0], &m.barrier);
	/* The second: the two before have withdrawn. */
	CU_ASSERT_EQUAL(weft_barrier_wait_until(&m.barrier, 1), -ETIMEDOUT);
	CU_ASSERT_EQUAL(weft_barrier_wait_until(&m.barrier, WEFT_NO_WAIT),
			-EAGAIN);
	CU_ASSERT_EQUAL(weft_barrier_destroy(&m.barrier), -EBUSY);
	member_start(&members[1], 1, meet_once, &m);
	until_waits_for(&members[1], &m.barrier);
	last = weft_barrier_wait_until(&m.barrier, WEFT_NO_WAIT);
	CU_ASSERT_EQUAL(last, WEFT_BARRIER_SERIAL);
	member_join(&members[0]);
	member_join(&members[1]);
	CU_ASSERT_EQUAL(load_seq_cst(&m.serial), 0);
	CU_ASSERT_EQUAL(weft_barrier_destroy(&m.barrier), 0);
	runtime_end();
}

static void meet_often(unsigned me, void *arg)
{
	struct meeting *m = arg;
	uint64_t seed = test_seed(me), serial = 0;

	for (size_t i = 0; i < m->rounds; i++) {
		fetch_add_seq_cst(&m->come, 1);
		int result = weft_barrier_wait(&m->barrier);

		must(result == 0 || result == WEFT_BARRIER_SERIAL);
		/* All have come to this round, and nobody beyond the next. */
		uint64_t come = load_seq_cst(&m->come);

		must(come >= (i + 1) * THREADS && come <= (i + 2) * THREADS);
		serial += (uint64_t)result;
		dither(&seed);
	}
	fetch_add_seq_cst(&m->serial, serial);
}

static void nobody_goes_before_all_have_come_and_one_is_serial(void)
{
	struct meeting m = { .rounds = test_scaled(1000) };

	runtime_begin();
	CU_ASSERT_EQUAL(weft_barrier_init(&m.barrier, THREADS), 0);
	crowd_run(THREADS, meet_often, &m);
	CU_ASSERT_EQUAL(load_seq_cst(&m.serial), m.rounds);
	CU_ASSERT_EQUAL(weft_barrier_destroy(&m.barrier), 0);
	runtime_end();
}

/*
 * Threads come until they have met `rounds` times; those that time out come
 * again. So all rounds are full in the end, and each has a serial one.
 */
static void meet_with_deadlines(unsigned me, void *arg)
{
	struct meeting *m = arg;
	uint64_t seed = test_seed(me), serial = 0, timed_out = 0;

	for (size_t met = 0; met < m->rounds; ) {
		int result = weft_barrier_wait_until(&m->barrier,
						     soon(&seed));

		must(result >= 0 || result == -ETIMEDOUT);
		if (result < 0) {
			timed_out++;
			continue;
		}
		met++;
		serial += (uint64_t)result;
	}
	fetch_add_seq_cst(&m->serial, serial);
	fetch_add_seq_cst(&m->timed_out, timed_out);
}

static void rounds_are_full_in_a_storm_of_withdrawals(void)
{
	struct meeting m = { .rounds = test_scaled(300) };
	uint32_t slots;

	runtime_begin();
	slots = wefti_slot_limit();
	/* As many as are needed: nobody can be in two rounds at once. */
	CU_ASSERT_EQUAL(weft_barrier_init(&m.barrier, 8), 0);
	crowd_run(8, meet_with_deadlines, &m);
	CU_ASSERT_EQUAL(load_seq_cst(&m.serial), m.rounds);
	CU_ASSERT(wefti_slot_limit() - slots <= 4 * 64);
	CU_ASSERT_EQUAL(weft_barrier_destroy(&m.barrier), 0);
	runtime_end();
}

/* The same with more threads than a round needs: rounds overlap. */
static void meet_in_any_round(unsigned me, void *arg)
{
	struct meeting *m = arg;
	uint64_t seed = test_seed(me), serial = 0, met = 0;

	for (size_t i = 0; i < m->rounds; i++) {
		int result = weft_barrier_wait_until(&m->barrier,
						     soon(&seed));

		must(result >= 0 || result == -ETIMEDOUT);
		met += result >= 0;
		serial += result == WEFT_BARRIER_SERIAL;
	}
	fetch_add_seq_cst(&m->come, met);
	fetch_add_seq_cst(&m->serial, serial);
}

static void each_round_has_as_many_as_it_needs(void)
{
	struct meeting m = { .rounds = test_scaled(1000) };

	runtime_begin();
	CU_ASSERT_EQUAL(weft_barrier_init(&m.barrier, 3), 0);
	crowd_run(32, meet_in_any_round, &m);
	CU_ASSERT_EQUAL(load_seq_cst(&m.come), 3 * load_seq_cst(&m.serial));
	CU_ASSERT_EQUAL(weft_barrier_destroy(&m.barrier), 0);
	runtime_end();
}

/* Whoever is first to return frees it. */

struct brief {
	struct weft_barrier *barrier;
	_Atomic uint32_t first;
};

static void meet_and_free(unsigned me, void *arg)
{
	struct brief *b = arg;
	struct weft_barrier *barrier = b->barrier;

	(void)me;
	must(weft_barrier_wait(barrier) >= 0);
	if (fetch_add_seq_cst(&b->first, 1) == 0)
		poison(barrier, sizeof(*barrier));
}

static void it_may_be_freed_when_one_has_returned(void)
{
	runtime_begin();
	for (size_t i = 0; i < test_scaled(300); i++) {
		struct brief b = { .barrier = malloc(sizeof(*b.barrier)) };

		must(b.barrier);
		must(weft_barrier_init(b.barrier, 6) == 0);
		crowd_run(6, meet_and_free, &b);
		must(is_poisoned(b.barrier, sizeof(*b.barrier)));
		free(b.barrier);
	}
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(one_that_was_not_made_is_refused),
	TEST(a_barrier_of_one_is_open),
	TEST(a_withdrawal_does_not_count),
	TEST(nobody_goes_before_all_have_come_and_one_is_serial),
	TEST(rounds_are_full_in_a_storm_of_withdrawals),
	TEST(each_round_has_as_many_as_it_needs),
	TEST(it_may_be_freed_when_one_has_returned),
};

TEST_MAIN("sync/barrier", cases)
