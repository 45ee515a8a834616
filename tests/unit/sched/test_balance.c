/* SPDX-License-Identifier: MIT */
/*
 * test_balance.c - sched/balance: threads that only compute share all VCPUs
 *
 * Shares of time depend on the kernel too, so no test here looks at a share. A thread that
 * stays on one VCPU has a wrong share of them; so each thread here computes until each
 * has been on each VCPU.
 */
#include "threads.h"

#include "lockfree/atomic.h"
#include "sched/balance.h"
#include "sched/ready.h"
#include "sched/steal.h"

#define MOST	9

static struct {
	unsigned threads, vcpus;
	_Atomic unsigned satisfied;
} round_of;

static uint64_t vcpu_bit(void)
{
	return UINT64_C(1) << wefti_self()->vcpu->index;
}

/* Returns how often it found itself on another VCPU. */
static void *compute(void *unused)
{
	const uint64_t all = (UINT64_C(1) << round_of.vcpus) - 1;
	uint64_t seen = 0, last = 0;
	uintptr_t moves = 0;

	(void)unused;
	while (load_relaxed(&round_of.satisfied) < round_of.threads) {
		uint64_t now = vcpu_bit();

		moves += last && now != last;
		last = now;
		if (seen == all)
			continue;
		seen |= now;
		if (seen == all)
			fetch_add_relaxed(&round_of.satisfied, 1);
	}
	return (void *)moves;
}

static void run(unsigned threads, unsigned vcpus)
{
	const struct weft_options options = {
		.vcpus = vcpus, .slice_ns = 1000000,
	};
	uint64_t id[MOST];

	round_of.threads = threads;
	round_of.vcpus = vcpus;
	store_relaxed(&round_of.satisfied, 0);
	CU_ASSERT_EQUAL_FATAL(weft_start(&options), 0);
	for (unsigned i = 0; i < threads; i++)
		id[i] = spawn(compute, NULL);
	for (unsigned i = 0; i < threads; i++)
		CU_ASSERT_TRUE((uintptr_t)join(id[i]) >= vcpus - 1);
	runtime_end();
}

static void three_threads_share_two_vcpus(void)
{
	if (own_tls_at_start())
		run(3, 2);
}

static void five_threads_share_two_vcpus(void)
{
	if (own_tls_at_start())
		run(5, 2);
}

static void five_threads_share_four_vcpus(void)
{
	if (own_tls_at_start())
		run(5, 4);
}

static void nine_threads_share_four_vcpus(void)
{
	if (own_tls_at_start())
		run(MOST, 4);
}

/* Two VCPUs without a runtime. */
static struct wefti_vcpu here, there;
static struct wefti_thread ready[12];

#define RING	10	/* of ready[]; the others are parents */

static void fill(void)
{
	here = there = (struct wefti_vcpu){ .index = 0 };
	wefti_ready_begin(&here, 0);
	wefti_ready_begin(&there, 0);
	for (int i = 0; i < 12; i++)
		CU_ASSERT_EQUAL(wefti_ring_push(i < RING ? &there.ring :
						&there.parents, &ready[i]), 0);
}

static void pops(int first, int last)
{
	for (int i = first; i <= last; i++)
		CU_ASSERT_PTR_EQUAL(wefti_ring_pop(&here.ring), &ready[i]);
	CU_ASSERT_PTR_NULL(wefti_ring_pop(&here.ring));
}

static void a_share_is_taken_oldest_first(void)
{
	fill();
	CU_ASSERT_PTR_EQUAL(wefti_steal_share(&here, &there, 5), &ready[0]);
	pops(1, 4);
	CU_ASSERT_PTR_EQUAL(wefti_steal_share(&here, &there, 1), &ready[5]);
	pops(0, -1);
	CU_ASSERT_PTR_EQUAL(wefti_steal_share(&here, &there, 20), &ready[6]);
	pops(7, 11);
	CU_ASSERT_PTR_NULL(wefti_steal_share(&here, &there, 1));
	CU_ASSERT_EQUAL(load_relaxed(&here.stat_steals), 12);
}

static void a_vcpu_is_behind_by_more_than_an_eighth(void)
{
	fill();		/* there: 12 are ready, and one runs */
	CU_ASSERT_FALSE(wefti_balance_is_behind(&here, 1));
	CU_ASSERT_TRUE(wefti_balance_is_behind(&here, 2));
	CU_ASSERT_FALSE(wefti_balance_is_behind(&there, 14));
	CU_ASSERT_TRUE(wefti_balance_is_behind(&there, 15));
}

static void the_parent_of_a_thread_that_computes_goes_behind(void)
{
	struct wefti_cold body = { .overtaken = 0 };

	fill();
	ready[0].cold = &body;
	store_relaxed(&here.next, &ready[0]);
	wefti_ready_outlasted(&here);	/* ready[0] is no parent */
	CU_ASSERT_PTR_EQUAL(load_relaxed(&here.next), &ready[0]);
	here.next_is_parent = 1;
	wefti_ready_outlasted(&here);
	CU_ASSERT_PTR_NULL(load_relaxed(&here.next));
	CU_ASSERT_EQUAL(body.overtaken, WEFTI_OVERTAKEN_MOST);
	pops(0, 0);
	wefti_ready_outlasted(&here);
	pops(0, -1);
}

/* It waits while what overtook it is ready, or a third thread has come behind it. */
static void a_parent_is_taken_back_behind_what_overtook_it(void)
{
	struct wefti_cold body = { .overtaken = 1 };

	fill();
	ready[0].cold = ready[1].cold = ready[2].cold = &body;
	wefti_ready_next(&here, &ready[0], 1);
	wefti_ready_next(&here, &ready[1], 0);
	CU_ASSERT_EQUAL(body.overtaken, 1 + WEFTI_OVERTAKEN_ONCE);
	CU_ASSERT_EQUAL(wefti_take_back(&here, &ready[0]), 0);
	CU_ASSERT_PTR_EQUAL(wefti_pick_own(&here), &ready[1]);
	wefti_ready_last(&here, &ready[2]);
	CU_ASSERT_EQUAL(wefti_take_back(&here, &ready[0]), 0);
	CU_ASSERT_EQUAL(wefti_take_back(&here, &ready[2]), 1);
	CU_ASSERT_EQUAL(wefti_take_back(&here, &ready[0]), 1);
}

static const struct test_case cases[] = {
	TEST(a_share_is_taken_oldest_first),
	TEST(a_vcpu_is_behind_by_more_than_an_eighth),
	TEST(the_parent_of_a_thread_that_computes_goes_behind),
	TEST(a_parent_is_taken_back_behind_what_overtook_it),
	TEST(three_threads_share_two_vcpus),
	TEST(five_threads_share_two_vcpus),
	TEST(five_threads_share_four_vcpus),
	TEST(nine_threads_share_four_vcpus),
};

TEST_MAIN("sched/balance", cases)
