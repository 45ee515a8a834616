/* SPDX-License-Identifier: MIT */
/*
 * test_steps_timer.c - how the steps of a timer grow with the number of timers
 *
 * The atomic operations of this kernel thread are counted (in a heap, two for
 * each meld), for few timers and for 64 times as many. They are counted to arm
 * a timer, to disarm it, to arm it anew for another time, and to have it come
 * up. There is no runtime: the timers are those of waits that are long over, at
 * a home of the test's.
 */
#include "sched/timer.h"

#include <stdlib.h>
#include <string.h>

#include "lockfree/atomic.h"
#include "os/call/clock.h"
#include "sched/vcpu.h"
#include "steps.h"
#include "support.h"
#include "thread/bare.h"

#define FEW		500
#define TIMES		64
#define HOUR_NS		INT64_C(3600000000000)

#define CALL_MOST	24	/* to arm or to disarm one, whatever there is */
#define ONE_LEAST	60	/* one that is armed, armed anew, and comes up, */
#define ONE_LEVEL	6	/* and for each doubling of their number */

static struct {
	struct wefti_vcpu *home;
	struct wefti_thread *thread;	/* its waits are over */
	struct wefti_cold *cold;
	uint64_t random;
	size_t call_most;
} scene;

static int64_t within(int64_t ns)
{
	scene.random = scene.random * 6364136223846793005u + 1;
	return (int64_t)(scene.random >> 1) % ns;
}

static size_t steps_of_arm(size_t i, int64_t deadline)
{
	size_t before = steps_own();

	scene.thread->cold = &scene.cold[i];
	wefti_timer_arm(scene.thread, 1, deadline);
	return steps_own() - before;
}

static size_t steps_of_disarm(size_t i)
{
	size_t before = steps_own();

	scene.thread->cold = &scene.cold[i];
	wefti_timer_disarm(scene.thread);
	return steps_own() - before;
}

static size_t armed(size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += !wefti_timer_is_free(&scene.cold[i].timer);
	return n;
}

/* The server of the home looks again and again; a look alone is one step. */
static double steps_until_all_are_up(size_t count)
{
	size_t steps = 0;

	while (load_relaxed(&scene.home->timers.next) != INT64_MAX) {
		size_t before = steps_own(), taken;

		wefti_timers_run(scene.home);
		taken = steps_own() - before;
		steps += taken > 1 ? taken : 0;
	}
	return (double)steps / (double)count;
}

static size_t log2_of(size_t n)
{
	size_t log = 0;

	while (n >>= 1)
		log++;
	return log;
}

static void note_call(size_t taken)
{
	if (taken > scene.call_most)
		scene.call_most = taken;
}

/* Returns the steps for each that is armed anew and comes up. */
static double steps_of(size_t count)
{
	int64_t begin;
	double up, anew = 0;

	scene.cold = calloc(count, sizeof(*scene.cold));
	CU_ASSERT_PTR_NOT_NULL_FATAL(scene.cold);
	scene.call_most = 0;
	for (size_t i = 0; i < count; i++) {
		wefti_timer_init(&scene.cold[i].timer);
		scene.cold[i].timer.home = scene.home;
	}
	/* One after the other in any order; then half of them for sooner. */
	begin = wefti_os_now_ns() + HOUR_NS;
	for (size_t i = 0; i < count; i++)
		note_call(steps_of_arm(i, begin + within(HOUR_NS)));
	CU_ASSERT_EQUAL(armed(count), count);
	for (size_t i = 0; i < count; i += 2)
		anew += (double)steps_of_arm(i, begin - HOUR_NS / 2 +
					     within(HOUR_NS / 4));
	for (size_t i = 1; i < count; i += 2)
		note_call(steps_of_disarm(i));
	CU_ASSERT_EQUAL(armed(count), count);

	/* All that there are, for a time that is soon over. */
	begin = wefti_os_now_ns();
	for (size_t i = 0; i < count; i++)
		anew += (double)steps_of_arm(i, begin + 20000000 +
					     within(100000000));
	up = steps_until_all_are_up(count);
	CU_ASSERT_EQUAL(armed(count), 0);
	printf("    %zu timers: a call %zu at most, anew %.1f, up %.1f\n",
	       count, scene.call_most, anew / 1.5 / (double)count, up);
	CU_ASSERT(scene.call_most <= CALL_MOST);
	CU_ASSERT(up + anew / (double)count <=
		  ONE_LEAST + ONE_LEVEL * (double)log2_of(count));
	free(scene.cold);
	return up + anew / (double)count;
}

static void a_timer_takes_steps_as_the_logarithm_of_their_number(void)
{
	size_t few = test_scaled(FEW);
	double of_few, of_many;

	scene.random = test_seed(0);
	scene.home = aligned_alloc(CACHE_LINE, sizeof(*scene.home));
	CU_ASSERT_PTR_NOT_NULL_FATAL(scene.home);
	memset(scene.home, 0, sizeof(*scene.home));
	wefti_timers_init(&scene.home->timers);
	scene.thread = wefti_thread_bare(WEFTI_KIND_FREE, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(scene.thread);

	of_few = steps_of(few);
	of_many = steps_of(few * TIMES);
	/* With a list they would be 64 times as many. */
	CU_ASSERT(of_many <= 4 * of_few);

	scene.thread->cold = NULL;
	wefti_thread_bare_free(scene.thread);
	free(scene.home);
}

static const struct test_case cases[] = {
	TEST(a_timer_takes_steps_as_the_logarithm_of_their_number),
};

TEST_MAIN("stall/steps_timer", cases)
