/* SPDX-License-Identifier: MIT */
/*
 * test_share.c - sched/share: threads are charged what they have used, and compared
 *
 * What follows from it for the shares of all threads is in test_balance.c.
 */
#include "sched/share.h"

#include "bare_vcpus.h"
#include "lockfree/atomic.h"
#include "os/call/tid.h"
#include "os/kthread/kthread.h"
#include "sched/balance.h"
#include "threads.h"

#define MS	INT64_C(1000000)
#define SLICE	(10 * MS)

static struct wefti_vcpu *vcpu[2];
static struct wefti_thread thread[2];
static struct wefti_cold body[2];

static void begin(void)
{
	bare_vcpus(vcpu, 2);
	wefti_rt.slice_ns = SLICE;
	store_relaxed(&wefti_rt.served, 0);
	for (int i = 0; i < 2; i++) {
		body[i] = (struct wefti_cold){ .served = 0 };
		thread[i].cold = &body[i];
	}
}

static void a_turn_is_charged_with_what_it_has_used(void)
{
	begin();
	wefti_share_charge(vcpu[0], &body[0], 7 * MS);
	CU_ASSERT_EQUAL(body[0].served, 7000);
	wefti_share_charge(vcpu[0], &body[0], 0);
	wefti_share_charge(vcpu[0], &body[0], -MS);	/* the clock of another one */
	CU_ASSERT_EQUAL(body[0].served, 7000);
	wefti_share_charge(vcpu[0], &body[0], 1000 * SLICE);	/* it was alone */
	CU_ASSERT_EQUAL(body[0].served, 7000 + 40000);
}

static void a_thread_lags_that_had_less_when_its_turn_began(void)
{
	begin();
	wefti_share_charge(vcpu[0], &body[0], SLICE);
	CU_ASSERT_EQUAL(wefti_share_lag(&thread[1]), 0);	/* in the first round */
	wefti_share_charge(vcpu[0], &body[0], SLICE);
	CU_ASSERT_EQUAL(wefti_share_lag(&thread[1]), SLICE);
	CU_ASSERT_EQUAL(wefti_share_lag(&thread[0]), -SLICE);
	CU_ASSERT_EQUAL(wefti_share_lag_on(vcpu[0], &thread[1]), SLICE);
	CU_ASSERT_EQUAL(wefti_share_lag_on(vcpu[1], &thread[1]), 0);
	thread[1].cold = NULL;
	CU_ASSERT_EQUAL(wefti_share_lag(&thread[1]), 0);
}

static void what_it_lacks_comes_on_top_of_its_slice(void)
{
	begin();
	store_relaxed(&vcpu[0]->served, 20000);
	body[0].served = 20000;
	CU_ASSERT_EQUAL(wefti_share_owed(vcpu[0], &thread[0], SLICE), 0);
	body[0].served = 20000 + 5000;
	CU_ASSERT_EQUAL(wefti_share_owed(vcpu[0], &thread[0], SLICE), 0);
	body[0].served = 20000 - 2500;
	CU_ASSERT_EQUAL(wefti_share_owed(vcpu[0], &thread[0], SLICE), 0);
	body[0].served = 20000 - 4500;
	CU_ASSERT_EQUAL(wefti_share_owed(vcpu[0], &thread[0], SLICE), 2 * MS);
	CU_ASSERT_EQUAL(wefti_share_owed(vcpu[0], &thread[0], 2 * MS), 2 * MS);
	body[0].served = 0;
	CU_ASSERT_EQUAL(wefti_share_owed(vcpu[0], &thread[0], SLICE), SLICE);
}

/* It waited, or is new: it is taken for one that has had as much as the others. */
static void one_that_is_far_from_the_mark_starts_there(void)
{
	begin();
	store_relaxed(&wefti_rt.served, 81000);
	store_relaxed(&vcpu[0]->served, 81000);
	CU_ASSERT_EQUAL(wefti_share_lag(&thread[0]), 0);
	CU_ASSERT_EQUAL(wefti_share_owed(vcpu[0], &thread[0], SLICE), 0);
	wefti_share_charge(vcpu[0], &body[0], MS);
	CU_ASSERT_EQUAL(body[0].served, 82000);
	store_relaxed(&wefti_rt.served, UINT32_C(1) << 31);
	wefti_share_charge(vcpu[1], &body[0], MS);
	CU_ASSERT_EQUAL(body[0].served, (UINT32_C(1) << 31) + 1000);
	CU_ASSERT_EQUAL(load_relaxed(&vcpu[1]->served), UINT32_C(1) << 31);
}

static void the_mark_moves_by_a_slice_at_most(void)
{
	begin();
	wefti_share_charge(vcpu[0], &body[0], 4 * SLICE);
	wefti_share_charge(vcpu[0], &body[0], MS);
	CU_ASSERT_EQUAL(load_relaxed(&wefti_rt.served), 10000);
	CU_ASSERT_EQUAL(load_relaxed(&vcpu[0]->served), 10000);
	wefti_share_charge(vcpu[0], &body[1], MS);	/* began before */
	CU_ASSERT_EQUAL(load_relaxed(&vcpu[0]->served), 10000);
}

/* The caller's kernel thread carries the VCPU. Its clock goes on meanwhile. */
static void a_turn_begins_where_the_last_slice_ended(void)
{
	struct wefti_kthread carrier = { .tid = wefti_os_gettid() };
	const int64_t now = wefti_os_kthread_cpu_ns(carrier.tid);

	begin();
	vcpu[0]->kthread = &carrier;
	store_relaxed(&vcpu[0]->ticks, 11);
	vcpu[0]->turn_ticks = 10;
	vcpu[0]->turn_cpu = now - 7 * MS;
	store_relaxed(&vcpu[0]->slice_cpu, now + 3600000 * MS);
	wefti_share_end(vcpu[0], &body[0]);
	CU_ASSERT_TRUE(body[0].served >= 7000);
	CU_ASSERT_EQUAL(vcpu[0]->turn_ticks, 11);
	CU_ASSERT_TRUE(vcpu[0]->turn_cpu >= now);
	/* There were other switches: the monitor knows better. */
	store_relaxed(&vcpu[0]->ticks, 13);
	wefti_share_end(vcpu[0], &body[1]);
	CU_ASSERT_EQUAL(body[1].served, 0);
}

#define COMPUTE	8
#define CROWD	20
#define TIMES	1000
#define IN_ROW	64	/* turns of injected threads */

struct among {
	size_t turns;		/* of all that compute */
	size_t widest;
	size_t waiting;		/* threads that go on to wait */
};

/* Each turn ends as one does whose slice is over. */
static void *compute_among(void *arg)
{
	struct among *a = arg;

	while (a->turns < 2 * COMPUTE || a->waiting) {
		struct wefti_thread *self = wefti_enter();

		a->turns++;
		wefti_balance_yield(self);
		wefti_leave(self);
	}
	return NULL;
}

static void *time_out_among(void *arg)
{
	struct weft_sem none = WEFT_SEM_INIT;
	struct among *a = arg;

	while (a->turns < 2 * COMPUTE)
		must(weft_sem_wait_until(&none, 1) == -ETIMEDOUT);
	for (int i = 0; i < TIMES; i++) {
		size_t before = a->turns;

		must(weft_sem_wait_until(&none, 1) == -ETIMEDOUT);
		if (a->turns - before > a->widest)
			a->widest = a->turns - before;
	}
	a->waiting--;
	return NULL;
}

/*
 * A thread does not wait for a slice of each. (Of COMPUTE, when it was behind all of them,
 * or of one for each of a crowd. The monitor may ask for a turn of the ring.) Those that
 * compute have their turns.
 */
static void time_outs_among_those_that_compute(size_t crowd)
{
	static const struct weft_options one = {
		.vcpus = 1, .slice_ns = INT64_C(60000000000)
	};
	struct among a = { .waiting = crowd };
	uint64_t id[COMPUTE + CROWD];

	setenv("WEFT_SPARE_MAX", "0", 1);	/* no thread loses the VCPU */
	CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
	for (int i = 0; i < COMPUTE; i++)
		id[i] = spawn(compute_among, &a);
	for (size_t i = 0; i < crowd; i++)
		id[COMPUTE + i] = spawn(time_out_among, &a);
	for (size_t i = 0; i < COMPUTE + crowd; i++)
		join(id[i]);
	CU_ASSERT_TRUE(a.widest > 0 && a.widest <= 3);
	CU_ASSERT_TRUE(a.turns * (IN_ROW + 2) >= crowd * TIMES);
	runtime_end();
	unsetenv("WEFT_SPARE_MAX");
}

static void a_thread_that_timed_out_waits_for_few_slices(void)
{
	time_outs_among_those_that_compute(1);
	time_outs_among_those_that_compute(CROWD);
}

static const struct test_case cases[] = {
	TEST(a_turn_is_charged_with_what_it_has_used),
	TEST(a_thread_lags_that_had_less_when_its_turn_began),
	TEST(what_it_lacks_comes_on_top_of_its_slice),
	TEST(one_that_is_far_from_the_mark_starts_there),
	TEST(the_mark_moves_by_a_slice_at_most),
	TEST(a_turn_begins_where_the_last_slice_ended),
	TEST(a_thread_that_timed_out_waits_for_few_slices),
};

TEST_MAIN("sched/share", cases)
