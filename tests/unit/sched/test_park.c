/* SPDX-License-Identifier: MIT */
/* test_park.c - sched/park: threads that yield in a loop let others have the CPU */
#include "threads.h"

#include "lockfree/atomic.h"
#include "os/call/clock.h"
#include "os/call/cpus.h"
#include "os/kthread/kthread.h"

#define LOOKS		1280	/* of a VCPU, each after 64 yields */
#define TAKEN_NS	10000

static _Atomic size_t given_up;
static int is_taken;		/* by another kernel thread, each time */

/*
 * The linker puts these in the place of wefti_os_yield() and wefti_os_now_ns(). How long
 * the CPU was away is what the test says, whatever else the machine runs: the clock
 * stands still over a call of the first.
 */
static _Thread_local int64_t last;
static _Thread_local int was_given_up;

void __wrap_wefti_os_yield(void);
int64_t __wrap_wefti_os_now_ns(void);
int64_t __real_wefti_os_now_ns(void);

void __wrap_wefti_os_yield(void)
{
	fetch_add_relaxed(&given_up, 1);
	was_given_up = 1;
}

int64_t __wrap_wefti_os_now_ns(void)
{
	if (was_given_up) {
		was_given_up = 0;
		return last + (is_taken ? TAKEN_NS : 0);
	}
	return last = __real_wefti_os_now_ns();
}

static void *yield_often(void *arg)
{
	size_t *n = arg;

	for (size_t i = 0; i < *n; i++)
		weft_yield();
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
	CU_ASSERT_TRUE(run(more, 1, 10000) > 0);
	CU_ASSERT_TRUE(run(more, 2, 10000) > 0);
}

static void with_a_cpu_for_each_vcpu_they_offer_it_rarely(void)
{
	is_taken = 0;
	CU_ASSERT_TRUE(run(1, 1, 64 * LOOKS) < LOOKS / 8);
}

static void where_the_cpu_is_taken_they_offer_it_often(void)
{
	is_taken = 1;
	CU_ASSERT_TRUE(run(1, 1, 64 * LOOKS) > LOOKS / 2);
}

static const struct test_case cases[] = {
	TEST(with_more_vcpus_than_cpus_yields_give_up_the_cpu),
	TEST(with_a_cpu_for_each_vcpu_they_offer_it_rarely),
	TEST(where_the_cpu_is_taken_they_offer_it_often),
};

TEST_MAIN("sched/park", cases)
