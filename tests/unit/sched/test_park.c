/* SPDX-License-Identifier: MIT */
/* test_park.c - sched/park: threads that yield in a loop let others have the CPU */
#include "threads.h"

#include "lockfree/atomic.h"
#include "os/call/clock.h"
#include "os/call/cpus.h"
#include "os/kthread/kthread.h"

#define YIELDS	10000
#define NEAR_NS	30000		/* as far apart as yields of a loop that waits may be */
#define FAR_NS	300000
#define AWAY_NS	10000

static _Atomic size_t given_up;
static int is_taken;		/* by another kernel thread, each time */
static int64_t step_ns = NEAR_NS;	/* of the clock, at each look at it */

/*
 * The linker puts these in the place of wefti_os_yield() and wefti_os_now_ns(). How long
 * the CPU was away is what the test says, whatever else the machine runs. For a thread
 * of yield_often(), the clock goes on by step_ns when it is read: so if each yield is a
 * look, the yields seem to be so far apart. Over a call of the first function the clock
 * stands still, or goes on by AWAY_NS. Light threads share the thread-local variables.
 */
static _Atomic int64_t made_up;
static _Thread_local _Atomic int has_own_clock, was_given_up;

void __wrap_wefti_os_yield(void);
int64_t __wrap_wefti_os_now_ns(void);
int64_t __real_wefti_os_now_ns(void);

void __wrap_wefti_os_yield(void)
{
	fetch_add_relaxed(&given_up, 1);
	store_relaxed(&was_given_up, 1);
}

int64_t __wrap_wefti_os_now_ns(void)
{
	int64_t step = load_relaxed(&was_given_up) ? is_taken ? AWAY_NS : 0 : step_ns;

	if (!load_relaxed(&has_own_clock))
		return __real_wefti_os_now_ns();
	store_relaxed(&was_given_up, 0);
	return fetch_add_relaxed(&made_up, step) + step;
}

static void *yield_often(void *arg)
{
	size_t *n = arg;

	store_relaxed(&has_own_clock, 1);
	for (size_t i = 0; i < *n; i++)
		weft_yield();
	store_relaxed(&has_own_clock, 0);
	return NULL;
}

/* Returns how often a CPU was given up in `n` yields of each of two threads. */
static size_t run(unsigned vcpus, unsigned threads, size_t n)
{
	const struct weft_options options = { .vcpus = vcpus };
	uint64_t id[2];

	store_relaxed(&given_up, 0);
	CU_ASSERT_EQUAL_FATAL(weft_start(&options), 0);
	for (unsigned i = 0; i < threads; i++)
		id[i] = spawn_with(i ? WEFT_LIGHT : 0, yield_often, &n);
	for (unsigned i = 0; i < threads; i++)
		join(id[i]);
	runtime_end();
	return load_relaxed(&given_up);
}

static void with_more_vcpus_than_cpus_yields_give_up_the_cpu(void)
{
	unsigned more = wefti_os_cpus_allowed("") + 1;

	if (more > WEFTI_VCPUS_MAX)
		return;
	CU_ASSERT_TRUE(run(more, 1, YIELDS) > 0);
	CU_ASSERT_TRUE(run(more, 2, YIELDS) > 0);
}

static void with_a_cpu_for_each_vcpu_they_offer_it_rarely(void)
{
	size_t n;

	is_taken = 0;
	n = run(1, 1, YIELDS);
	CU_ASSERT_TRUE(n > 0 && n < YIELDS / 2);
}

static void where_the_cpu_is_taken_they_offer_it_often(void)
{
	is_taken = 1;
	CU_ASSERT_TRUE(run(1, 1, YIELDS) > YIELDS / 10 * 9);
}

static void they_offer_it_when_all_threads_have_yielded(void)
{
	size_t n;

	is_taken = 1;
	n = run(1, 2, YIELDS);		/* twice as many yields */
	CU_ASSERT_TRUE(n > YIELDS / 10 * 9 && n < YIELDS / 10 * 11);
}

static void threads_that_compute_between_yields_offer_nothing(void)
{
	is_taken = 1;
	step_ns = FAR_NS;
	CU_ASSERT_TRUE(run(1, 1, YIELDS) < YIELDS / 10);
	step_ns = NEAR_NS;
}

static const struct test_case cases[] = {
	TEST(with_more_vcpus_than_cpus_yields_give_up_the_cpu),
	TEST(with_a_cpu_for_each_vcpu_they_offer_it_rarely),
	TEST(where_the_cpu_is_taken_they_offer_it_often),
	TEST(they_offer_it_when_all_threads_have_yielded),
	TEST(threads_that_compute_between_yields_offer_nothing),
};

TEST_MAIN("sched/park", cases)
