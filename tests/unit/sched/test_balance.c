/* SPDX-License-Identifier: MIT */
/*
 * test_balance.c - sched/balance: threads that only compute share all VCPUs
 *
 * Shares of time depend on the kernel too, so no test of a runtime looks at a share. A
 * thread that stays on one VCPU has a wrong share of them. So where the threads are no
 * multiple of the VCPUs, each computes until each has been on each VCPU.
 *
 * The shares are those of a model: VCPUs without a runtime. The lengths of their turns are
 * random, and some VCPUs are slower than others.
 */
#include "bare_vcpus.h"
#include "lockfree/atomic.h"
#include "sched/balance.h"
#include "sched/ready.h"
#include "sched/share.h"
#include "sched/slice.h"
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

static void a_vcpu_is_behind_by_more_than_a_half(void)
{
	fill();		/* there: 12 are ready, and one runs */
	CU_ASSERT_FALSE(wefti_balance_is_behind(&here, 1));
	CU_ASSERT_TRUE(wefti_balance_is_behind(&here, 2));
	CU_ASSERT_FALSE(wefti_balance_is_behind(&there, 19));
	CU_ASSERT_TRUE(wefti_balance_is_behind(&there, 20));
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

#define MODEL_MOST	64
#define SLICE_US	10000
#define WRAPS_SOON	(UINT32_MAX - 100000)

/* The model of threads that compute on VCPUs. Times are in us. */
static struct {
	struct wefti_thread thread[MODEL_MOST];
	struct wefti_cold body[MODEL_MOST];
	int64_t had[MODEL_MOST];
	struct wefti_vcpu *vcpu[8];
	struct wefti_thread *runs[8];
	int64_t wall[8];
	unsigned percent[8];	/* of a CPU */
	unsigned published;	/* how often threads had to be announced */
	uint64_t random;
} model;

static void model_begin(unsigned threads, unsigned vcpus)
{
	struct wefti_thread *t;

	model.random = test_seed(0);
	model.published = 0;
	bare_vcpus(model.vcpu, vcpus);
	wefti_rt.slice_ns = SLICE_US * 1000;
	store_relaxed(&wefti_rt.served, WRAPS_SOON);
	for (unsigned i = 0; i < threads; i++) {
		t = &model.thread[i];
		t->cold = &model.body[i];
		model.body[i] = (struct wefti_cold){ .served = WRAPS_SOON };
		model.had[i] = 0;
		must(wefti_ring_push(&model.vcpu[i % vcpus]->ring, t) == 0);
	}
	for (unsigned i = 0; i < vcpus; i++) {
		model.runs[i] = wefti_ring_pop(&model.vcpu[i]->ring);
		model.wall[i] = 0;
		model.percent[i] = 100;
	}
}

static unsigned first_in_time(unsigned vcpus)
{
	unsigned first = 0;

	for (unsigned i = 1; i < vcpus; i++)
		if (model.wall[i] < model.wall[first])
			first = i;
	return first;
}

/* From half a slice to one and a half, and what the thread is owed. */
static int64_t turn_us(struct wefti_vcpu *v, struct wefti_thread *t)
{
	const int64_t slice = wefti_slice_whole(v);

	return (slice / 2 + wefti_share_owed(v, t, slice) +
		(int64_t)test_random_below(&model.random, (uint64_t)slice)) / 1000;
}

/* The slice of the thread on VCPU i is over after so much CPU time. */
static void model_turn(unsigned i, int64_t used_us)
{
	struct wefti_vcpu *v = model.vcpu[i];
	struct wefti_thread *t = model.runs[i], *next;
	struct wefti_thread *oldest = wefti_ring_head_hint(&v->ring);
	int published;

	model.had[t - model.thread] += used_us;
	model.wall[i] += used_us * 100 / model.percent[i];
	wefti_share_charge(v, t->cold, used_us * 1000);
	next = wefti_balance_next(v, t, &published);
	/* It came from elsewhere, or the one before it was put back. */
	CU_ASSERT_EQUAL(published, next && next != oldest);
	model.published += (unsigned)published;
	store_relaxed(&v->ticks, load_relaxed(&v->ticks) + (next != NULL));
	if (!next)
		return;
	wefti_ready_last(v, t);
	model.runs[i] = next;
}

/* For 5 s. */
static void model_run(unsigned threads, unsigned vcpus)
{
	int64_t all = 0;
	unsigned i;

	while (model.wall[i = first_in_time(vcpus)] < 5000000)
		model_turn(i, turn_us(model.vcpu[i], model.runs[i]));
	for (unsigned k = 0; k < threads; k++)
		all += model.had[k];
	for (unsigned k = 0; k < threads; k++) {
		CU_ASSERT_TRUE(model.had[k] * threads * 100 > all * 85);
		CU_ASSERT_TRUE(model.had[k] * threads * 100 < all * 115);
	}
}

static void turns_of_any_length_add_up_to_equal_shares(void)
{
	const unsigned vcpus[] = { 1, 2, 4, 8 }, threads[] = { 3, 5, 9, 16, 33, 64 };

	for (int k = 0; k < 4; k++)
		for (int i = 0; i < 6; i++)
			if (threads[i] > vcpus[k]) {
				model_begin(threads[i], vcpus[k]);
				model_run(threads[i], vcpus[k]);
			}
}

/* The kernel gives some VCPUs less of the CPUs. */
static void threads_of_a_slow_vcpu_have_equal_shares(void)
{
	model_begin(16, 8);
	model.percent[0] = model.percent[1] = 60;
	model_run(16, 8);
	model_begin(64, 8);
	model.percent[7] = 50;
	model_run(64, 8);
	model_begin(33, 2);
	model.percent[1] = 70;
	model_run(33, 2);
}

/* The first one was asked for its end in vain. */
static void a_thread_that_has_had_too_much_loses_turns(void)
{
	model_begin(16, 1);
	model_turn(0, 3 * SLICE_US);
	for (unsigned turn = 0; turn < 15; turn++)
		model_turn(0, SLICE_US);
	for (unsigned turn = 0; turn < 30; turn++) {
		CU_ASSERT_PTR_NOT_EQUAL(model.runs[0], &model.thread[0]);
		model_turn(0, SLICE_US);
	}
	CU_ASSERT_TRUE(model.published > 0);
}

/* Those of two VCPUs that are as fast as each other, however long their turns are. */
static void threads_stay_where_they_are_if_all_is_even(void)
{
	model_begin(16, 2);
	for (int turn = 0; turn < 1000; turn++)
		model_turn(first_in_time(2), SLICE_US + turn % 7);
	CU_ASSERT_EQUAL(load_relaxed(&model.vcpu[0]->stat_steals), 0);
	CU_ASSERT_EQUAL(load_relaxed(&model.vcpu[1]->stat_steals), 0);
}

static const struct test_case cases[] = {
	TEST(turns_of_any_length_add_up_to_equal_shares),
	TEST(threads_of_a_slow_vcpu_have_equal_shares),
	TEST(a_thread_that_has_had_too_much_loses_turns),
	TEST(threads_stay_where_they_are_if_all_is_even),
	TEST(a_share_is_taken_oldest_first),
	TEST(a_vcpu_is_behind_by_more_than_a_half),
	TEST(the_parent_of_a_thread_that_computes_goes_behind),
	TEST(a_parent_is_taken_back_behind_what_overtook_it),
	TEST(three_threads_share_two_vcpus),
	TEST(five_threads_share_two_vcpus),
	TEST(five_threads_share_four_vcpus),
	TEST(nine_threads_share_four_vcpus),
};

TEST_MAIN("sched/balance", cases)
