/* SPDX-License-Identifier: MIT */
/*
 * test_monitor.c - sched/monitor: when it sleeps and when it looks, and which
 * hook is told that nothing is left to do
 *
 * What it does to threads that compute or block is in test_preempt.c and
 * test_seat.c; a keeper that is stopped, in tests/stall.
 */
#include "sched/monitor.h"

#include <pthread.h>

#include "lockfree/atomic.h"
#include "sched/idle.h"
#include "sched/timer.h"
#include "thread/wait.h"
#include "threads.h"

#define LOOKS	20

/* It looks each half slice. */
static const struct weft_options short_slices = { .slice_ns = 400000 };

static _Atomic unsigned quiets;
static struct weft_sem sem;
static struct wefti_thread *waiter;	/* the main one */

static void count_quiet(void)
{
	fetch_add_seq_cst(&quiets, 1);
}

/* A layer above is told instead; it gets its place back. */
static wefti_quiet_fn *listen_for_quiet(void)
{
	wefti_quiet_fn *was = load_seq_cst(&wefti_monitor_quiet);

	store_seq_cst(&quiets, 0);
	store_seq_cst(&wefti_monitor_quiet, count_quiet);
	return was;
}

static uint32_t is_asleep(void)
{
	return load_seq_cst(&wefti_rt.monitor_asleep);
}

static int64_t looked_at(void)
{
	return load_seq_cst(&wefti_rt.coarse_now);
}

static void run_beside(void *(*fn)(void *arg))
{
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, fn, NULL), 0);
	CU_ASSERT_EQUAL(weft_sem_wait(&sem), 0);	/* until fn posts */
	weft_block_begin();
	pthread_join(thread, NULL);
	weft_block_end();
}

/*
 * All may idle already while the main thread is blocked in its last join, and what the
 * monitor says of that may come when it runs again: it must be parked.
 */
static void *await_quiet(void *unused)
{
	while (!wefti_wait_is_parked(waiter) || !wefti_idle_all())
		wefti_os_yield();
	store_seq_cst(&quiets, 0);
	wefti_monitor_hurry();		/* it may have said so, and sleep */
	while (load_seq_cst(&quiets) == 0)
		wefti_os_yield();
	must(wefti_idle_all());
	must(weft_sem_post(&sem) == 0);
	return unused;
}

static void before_it_sleeps_it_says_that_all_is_quiet(void)
{
	wefti_quiet_fn *was;

	CU_ASSERT_EQUAL_FATAL(weft_start(&short_slices), 0);
	waiter = wefti_self();
	was = listen_for_quiet();
	for (int i = 0; i < 2; i++)
		run_beside(await_quiet);
	store_seq_cst(&wefti_monitor_quiet, was);
	runtime_end();
}

/*
 * It looks, and sleeps again, some times; a timer is armed all the while. That it has
 * looked is told by what each look clears, which stays so however long we are stopped.
 */
static void *wake_it_often(void *unused)
{
	while (!wefti_idle_all() || wefti_timers_earliest() == INT64_MAX)
		wefti_os_yield();
	store_seq_cst(&quiets, 0);
	for (int i = 0; i < 3; i++) {
		while (!is_asleep())
			wefti_os_yield();
		wefti_monitor_hurry();
		while (load_seq_cst(&wefti_rt.monitor_hurry) || !is_asleep())
			wefti_os_yield();
	}
	must(load_seq_cst(&quiets) == 0);
	must(weft_sem_post(&sem) == 0);
	return unused;
}

static void *sleep_long(void *unused)
{
	must(weft_sleep(INT64_C(3600000000000)) == -ECANCELED);
	return unused;
}

static void while_a_timer_is_armed_it_does_not(void)
{
	wefti_quiet_fn *was;
	uint64_t id;

	CU_ASSERT_EQUAL_FATAL(weft_start(&short_slices), 0);
	id = spawn(sleep_long, NULL);
	while (wefti_timers_earliest() == INT64_MAX)
		weft_yield();
	was = listen_for_quiet();
	run_beside(wake_it_often);
	store_seq_cst(&wefti_monitor_quiet, was);
	CU_ASSERT_EQUAL(weft_cancel(id), 0);
	join(id);
	runtime_end();
}

/* Beside VCPUs that idle, or not: one is enough. */
static void while_a_vcpu_is_busy_it_looks_and_does_not_sleep(void)
{
	unsigned asleep = 0;

	CU_ASSERT_EQUAL_FATAL(weft_start(&short_slices), 0);
	for (int i = 0; i < LOOKS; i++) {
		int64_t seen = looked_at();

		while (looked_at() == seen)
			if (i > 1)	/* from before it knew */
				asleep += is_asleep();
	}
	CU_ASSERT_EQUAL(asleep, 0);
	runtime_end();
}

static void when_it_is_to_hurry_it_is_woken_once(void)
{
	uint32_t wakes;
	int64_t before;

	/* Nobody sleeps there yet. */
	wakes = load_seq_cst(&wefti_rt.monitor_wake);
	store_seq_cst(&wefti_rt.monitor_hurry, 1);
	wefti_monitor_hurry();
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.monitor_wake), wakes);
	store_seq_cst(&wefti_rt.monitor_hurry, 0);
	before = weft_clock();
	wefti_monitor_hurry();
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.monitor_wake), wakes + 1);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.monitor_hurry), 1);
	CU_ASSERT_TRUE(looked_at() >= before);	/* the coarse time is right */
	/* This wakes it only where it sleeps. */
	store_seq_cst(&wefti_rt.monitor_asleep, 0);
	wefti_monitor_wake_if_asleep();
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.monitor_wake), wakes + 1);
	store_seq_cst(&wefti_rt.monitor_asleep, WEFTI_MONITOR_ASLEEP);
	wefti_monitor_wake_if_asleep();
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.monitor_wake), wakes + 2);
	store_seq_cst(&wefti_rt.monitor_asleep, 0);

	/* It looks, and is not in a hurry any more. */
	runtime_begin();
	wefti_monitor_hurry();
	while (load_seq_cst(&wefti_rt.monitor_hurry))
		wefti_os_yield();
	runtime_end();
}

static void it_is_a_thread_that_others_know_until_it_is_stopped(void)
{
	struct wefti_thread *m;

	wefti_monitor_stop();	/* of a start that got nowhere */
	CU_ASSERT_PTR_NULL(load_seq_cst(&wefti_rt.monitor));
	runtime_begin();
	while (!(m = load_seq_cst(&wefti_rt.monitor)))
		wefti_os_yield();
	CU_ASSERT_EQUAL(m->kind, WEFTI_KIND_FOREIGN);
	runtime_end();
	CU_ASSERT_PTR_NULL(load_seq_cst(&wefti_rt.monitor));
	wefti_monitor_stop();
}

static _Atomic int slept;

static void *end_at_once(void *unused)
{
	return unused;
}

static void *spawn_and_join(void *unused)
{
	while (!load_relaxed(&slept))
		join(spawn(end_at_once, NULL));
	return unused;
}

/* Its VCPU goes from parent to child and back, and looks at no queue by itself. */
static void a_sleeper_has_its_turn_beside_a_thread_that_spawns_and_joins(void)
{
	static const struct weft_options one = { .vcpus = 1, .slice_ns = 1000000 };
	uint64_t id;

	CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
	store_relaxed(&slept, 0);
	id = spawn(spawn_and_join, NULL);
	for (int i = 0; i < 5; i++)
		must(weft_sleep(1000000) == 0);
	store_relaxed(&slept, 1);
	join(id);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(before_it_sleeps_it_says_that_all_is_quiet),
	TEST(while_a_timer_is_armed_it_does_not),
	TEST(while_a_vcpu_is_busy_it_looks_and_does_not_sleep),
	TEST(when_it_is_to_hurry_it_is_woken_once),
	TEST(it_is_a_thread_that_others_know_until_it_is_stopped),
	TEST(a_sleeper_has_its_turn_beside_a_thread_that_spawns_and_joins),
};

TEST_MAIN("sched/monitor", cases)
