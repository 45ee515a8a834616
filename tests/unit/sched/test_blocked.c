/* SPDX-License-Identifier: MIT */
/*
 * test_blocked.c - sched/blocked: what a kernel thread has done since it was seen
 *
 * The times are the test's own. What the monitor makes of it is in test_seat.c.
 */
#include "sched/blocked.h"

#include "os/call/futex.h"
#include "os/call/tid.h"
#include "os/kthread/kthread.h"
#include "support.h"

#define LOOK_NS		INT64_C(5000000)
#define MOST_NS		INT64_C(100000000)	/* with a lock that it wants */
#define NOW		INT64_C(1000000000000)

static _Atomic uint32_t word, tid;
static int says_lock, asked;

int __wrap_wefti_os_kthread_wants_lock(int of);

int __wrap_wefti_os_kthread_wants_lock(int of)
{
	asked += of == (int)load_seq_cst(&tid);
	return says_lock;
}

/* Asleep while the word is 0; computes while it is 1. */
static void sleep_and_compute(void *arg)
{
	(void)arg;
	store_seq_cst(&tid, (uint32_t)wefti_os_gettid());
	while (load_seq_cst(&word) == 0)
		wefti_os_futex_wait(&word, 0, INT64_MAX);
	while (load_seq_cst(&word) == 1)
		;
}

static struct wefti_os_kthread handle;
static struct wefti_kthread carrier;
static struct wefti_vcpu vcpu;

static void begin(void)
{
	says_lock = 0;
	asked = 0;
	store_seq_cst(&word, 0);
	store_seq_cst(&tid, 0);
	CU_ASSERT_EQUAL_FATAL(wefti_os_kthread_create(&handle, 64 * 1024,
						      sleep_and_compute, NULL,
						      "carrier"), 0);
	while (!load_seq_cst(&tid) ||
	       wefti_os_kthread_state((int)load_seq_cst(&tid)) != 'S')
		wefti_os_yield();
	carrier.tid = (int)load_seq_cst(&tid);
	vcpu.kthread = &carrier;
	vcpu.seen_since = NOW;
	wefti_blocked_begin(&vcpu, NOW);
}

static void end(void)
{
	store_seq_cst(&word, 2);
	wefti_os_futex_wake(&word, 1);
	wefti_os_kthread_join(&handle);
}

static enum wefti_blocked look(int64_t after)
{
	return wefti_blocked_decide(&vcpu, NOW + after, LOOK_NS);
}

static void a_thread_that_sleeps_for_a_look_is_blocked(void)
{
	begin();
	CU_ASSERT_EQUAL(look(1), WEFTI_GOES_ON);
	CU_ASSERT_EQUAL(look(LOOK_NS - 1), WEFTI_GOES_ON);
	CU_ASSERT_EQUAL(look(LOOK_NS), WEFTI_BLOCKED);
	CU_ASSERT_EQUAL(asked, 1);
	/* Looked at again, it is asked for as long again. */
	CU_ASSERT_EQUAL(look(LOOK_NS + 1), WEFTI_GOES_ON);
	CU_ASSERT_EQUAL(look(2 * LOOK_NS), WEFTI_BLOCKED);
	end();
}

static void a_computing_thread_goes_on(void)
{
	int64_t used;

	begin();
	used = wefti_os_kthread_cpu_ns(carrier.tid);
	store_seq_cst(&word, 1);
	wefti_os_futex_wake(&word, 1);
	while (wefti_os_kthread_cpu_ns(carrier.tid) <= used)
		wefti_os_yield();
	CU_ASSERT_EQUAL(look(LOOK_NS), WEFTI_GOES_ON);
	CU_ASSERT_EQUAL(look(MOST_NS), WEFTI_GOES_ON);
	CU_ASSERT_EQUAL(asked, 0);
	end();
}

static void a_thread_that_wants_a_lock_is_blocked_later(void)
{
	begin();
	says_lock = 1;
	CU_ASSERT_EQUAL(look(LOOK_NS), WEFTI_WANTS_LOCK);
	CU_ASSERT_EQUAL(look(LOOK_NS + 1), WEFTI_GOES_ON);
	CU_ASSERT_EQUAL(look(MOST_NS), WEFTI_WANTS_LOCK);
	CU_ASSERT_EQUAL(asked, 2);
	CU_ASSERT_EQUAL(look(MOST_NS + LOOK_NS), WEFTI_BLOCKED);
	CU_ASSERT_EQUAL(asked, 2);
	end();
}

static int64_t pace_after(unsigned taken)
{
	int64_t next = LOOK_NS;

	wefti_blocked_pace(taken, LOOK_NS, &next);
	return next;
}

static void looks_come_faster_while_blocked_threads_are_found(void)
{
	int64_t last = LOOK_NS, pace, sooner = 1;
	int looks = 0;

	CU_ASSERT_EQUAL(pace_after(0), LOOK_NS);
	/* One look finds it, the next has to look twice: faster all the same. */
	do {
		pace = pace_after(1);
		CU_ASSERT(pace < last);
		last = pace_after(0);
		CU_ASSERT_EQUAL(last, 2 * pace);
	} while (++looks < 6 && last > 200000);
	CU_ASSERT(looks < 6);
	while (pace_after(2) != pace)
		pace = pace_after(2);
	CU_ASSERT(pace > 0 && pace < LOOK_NS / 50);
	/* A look that is to come sooner for another reason still does. */
	wefti_blocked_pace(1, LOOK_NS, &sooner);
	CU_ASSERT_EQUAL(sooner, 1);
	begin();
	CU_ASSERT_EQUAL(look(pace - 1), WEFTI_GOES_ON);
	CU_ASSERT_EQUAL(look(pace), WEFTI_BLOCKED);
	end();
	/* Without any they become as rare as before. */
	for (looks = 0; pace_after(0) != LOOK_NS; looks++)
		CU_ASSERT_FATAL(looks < 10);
	begin();
	CU_ASSERT_EQUAL(look(pace), WEFTI_GOES_ON);
	CU_ASSERT_EQUAL(look(LOOK_NS), WEFTI_BLOCKED);
	end();
}

static void a_start_of_the_runtime_forgets_what_was_found(void)
{
	CU_ASSERT(pace_after(1) < LOOK_NS);
	wefti_blocked_start();
	CU_ASSERT_EQUAL(pace_after(0), LOOK_NS);
}

static const struct test_case cases[] = {
	TEST(a_thread_that_sleeps_for_a_look_is_blocked),
	TEST(a_computing_thread_goes_on),
	TEST(a_thread_that_wants_a_lock_is_blocked_later),
	TEST(looks_come_faster_while_blocked_threads_are_found),
	TEST(a_start_of_the_runtime_forgets_what_was_found),
};

TEST_MAIN("sched/blocked", cases)
