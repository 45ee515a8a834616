/* SPDX-License-Identifier: MIT */
/* test_sample.c - sched/sample: looks stand for the time since the look before */
#include "support.h"

#include "sched/sample.h"

static struct wefti_vcpu vcpu;
static struct wefti_thread thread[2000];

static void run(struct wefti_thread *t)
{
	store_relaxed(&vcpu.current, t);
}

static void look(int64_t now, int is_idle)
{
	wefti_sample_begin(now);
	wefti_sample(&vcpu, is_idle);
}

static void begin(void)
{
	wefti_rt.vcpu_count = 1;
	for (uint32_t i = 0; i < 2000; i++) {
		thread[i].slot = i + 1;
		thread[i].kind = WEFTI_KIND_GREEN;
		store_relaxed(&thread[i].gen, 1);
	}
	wefti_sample_threads(0);
	wefti_sample_start();
	run(&thread[0]);
}

/* How long the thread was seen to run. */
static uint64_t ran(const struct wefti_thread *t)
{
	for (unsigned i = 0; i < WEFTI_SAMPLED_MOST; i++) {
		uint64_t ns;

		if (wefti_sample_thread(i, &ns) == ((uint64_t)1 << 32 | t->slot))
			return ns;
	}
	return 0;
}

static void a_vcpu_is_busy_from_look_to_look(void)
{
	begin();
	look(1000, 0);
	CU_ASSERT_EQUAL(wefti_sample_busy_ns(&vcpu), 0);
	look(1050, 0);
	CU_ASSERT_EQUAL(wefti_sample_busy_ns(&vcpu), 50);
	look(1080, 1);
	CU_ASSERT_EQUAL(wefti_sample_busy_ns(&vcpu), 50);
	look(1090, 0);
	CU_ASSERT_EQUAL(wefti_sample_busy_ns(&vcpu), 60);
}

static void the_monitors_sleep_counts_for_nothing(void)
{
	begin();
	look(1000, 0);
	wefti_sample_pause();
	look(9000, 0);
	CU_ASSERT_EQUAL(wefti_sample_busy_ns(&vcpu), 0);
	look(9001, 0);
	CU_ASSERT_EQUAL(wefti_sample_busy_ns(&vcpu), 1);
	wefti_sample_start();
	CU_ASSERT_EQUAL(wefti_sample_busy_ns(&vcpu), 0);
}

static void a_thread_in_next_is_ready(void)
{
	begin();
	look(1000, 0);
	look(1100, 0);
	CU_ASSERT_EQUAL(wefti_sample_ready_ns(), 0);
	store_relaxed(&vcpu.next, &thread[1]);
	look(1200, 1);
	CU_ASSERT_EQUAL(wefti_sample_ready_ns(), 100);
	store_relaxed(&vcpu.next, NULL);
	look(1300, 0);
	CU_ASSERT_EQUAL(wefti_sample_ready_ns(), 100);
}

static void threads_are_counted_until_the_time_is_over(void)
{
	begin();
	look(1000, 0);
	look(1100, 0);
	CU_ASSERT_EQUAL(ran(&thread[0]), 0);
	wefti_sample_threads(1300);
	look(1200, 0);
	CU_ASSERT_EQUAL(ran(&thread[0]), 100);
	run(&thread[1]);
	look(1210, 0);
	run(NULL);
	look(1220, 0);
	run(&thread[0]);
	look(1230, 1);
	CU_ASSERT_EQUAL(ran(&thread[0]), 100);
	look(1300, 0);
	CU_ASSERT_EQUAL(ran(&thread[0]), 100);
	CU_ASSERT_EQUAL(ran(&thread[1]), 10);
	wefti_sample_start();
	CU_ASSERT_EQUAL(ran(&thread[1]), 0);
}

static void a_scheduler_loop_is_no_thread(void)
{
	begin();
	wefti_sample_threads(INT64_MAX);
	thread[0].kind = WEFTI_KIND_SCHED;
	look(1000, 0);
	look(1100, 0);
	CU_ASSERT_EQUAL(wefti_sample_busy_ns(&vcpu), 100);
	CU_ASSERT_EQUAL(ran(&thread[0]), 0);
}

/* The table is small: those that run most stay in it. */
static void many_short_threads_do_not_push_out_a_long_one(void)
{
	int64_t now = 1000;

	begin();
	wefti_sample_threads(INT64_MAX);
	look(now, 0);
	look(now += 100000, 0);
	for (int i = 1; i < 2000; i++) {
		run(&thread[i]);
		look(now += 10, 0);
		CU_ASSERT_EQUAL(ran(&thread[i]), 10);
	}
	CU_ASSERT_EQUAL(ran(&thread[0]), 100000);
}

/* A count that has paused begins anew, whatever ran before. */
static void threads_of_an_earlier_count_keep_no_place(void)
{
	int64_t now = 1000;

	begin();
	wefti_sample_threads(INT64_MAX);
	look(now, 0);
	for (int i = 0; i < 1000; i++) {
		run(&thread[i]);
		look(now += 100000, 0);
	}
	wefti_sample_threads(0);
	look(now += 10, 0);
	wefti_sample_threads(INT64_MAX);
	for (int i = 1000; i < 1100; i++) {
		run(&thread[i]);
		look(now += 10, 0);
	}
	for (int i = 1000; i < 1100; i++)
		CU_ASSERT_EQUAL(ran(&thread[i]), 10);
	CU_ASSERT_EQUAL(ran(&thread[0]), 0);
}

static const struct test_case cases[] = {
	TEST(a_vcpu_is_busy_from_look_to_look),
	TEST(the_monitors_sleep_counts_for_nothing),
	TEST(a_thread_in_next_is_ready),
	TEST(threads_are_counted_until_the_time_is_over),
	TEST(a_scheduler_loop_is_no_thread),
	TEST(many_short_threads_do_not_push_out_a_long_one),
	TEST(threads_of_an_earlier_count_keep_no_place),
};

TEST_MAIN("sched/sample", cases)
