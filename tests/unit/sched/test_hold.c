/* SPDX-License-Identifier: MIT */
/*
 * test_hold.c - sched/hold: in a section the thread is not preempted and keeps
 * its VCPU; behind it neither holds
 *
 * That it does nothing without the runtime is in lockfree/test_lock.c too.
 */
#include <weft/lock.h>

#include <pthread.h>

#include "lockfree/atomic.h"
#include "sched/seat.h"
#include "threads.h"

#define LOOKS	20	/* of the monitor, each half a slice behind the last */

static const struct weft_options one = { .vcpus = 1, .slice_ns = 200000 };

static void await_looks(void)
{
	for (int i = 0; i < LOOKS; i++) {
		int64_t seen = load_relaxed(&wefti_rt.coarse_now);

		while (load_relaxed(&wefti_rt.coarse_now) == seen)
			;
	}
}

static uint64_t switches(void)
{
	return load_relaxed(&wefti_vcpu_at(0)->ticks);
}

struct scene {
	_Atomic int runs;	/* the other */
	unsigned nested;
};

static void *be_run(void *arg)
{
	struct scene *s = arg;

	store_seq_cst(&s->runs, 1);
	return NULL;
}

static void *compute(void *arg)
{
	struct scene *s = arg;
	void *held[3];
	uint64_t before;

	must(load_relaxed(&wefti_self()->in_runtime) == 0);
	held[0] = weft_preempt_off();
	for (unsigned i = 1; i <= s->nested; i++)
		held[i] = weft_preempt_off();
	must(held[0] != NULL);
	must(load_relaxed(&wefti_self()->in_runtime) == s->nested + 1);
	before = switches();
	await_looks();
	for (unsigned i = s->nested; i > 0; i--) {
		weft_preempt_on(held[i]);
		await_looks();
	}
	must(switches() == before);
	must(load_relaxed(&wefti_self()->attention) == 0);
	weft_preempt_on(held[0]);
	must(load_relaxed(&wefti_self()->in_runtime) == 0);
	return NULL;
}

/* Is ready all the while. */
static void *wait_for_turn(void *arg)
{
	struct scene *s = arg;

	while (!load_seq_cst(&s->runs))
		weft_yield();
	return NULL;
}

/* Gives way to nobody by itself: only if it is stopped does the other run. */
static void *compute_freely(void *arg)
{
	struct scene *s = arg;

	while (!load_seq_cst(&s->runs))
		;
	return NULL;
}

static void in_a_section_it_is_not_stopped(void)
{
	for (unsigned flags = 0; flags <= WEFT_LIGHT; flags += WEFT_LIGHT)
		for (unsigned nested = 0; nested < 3; nested += 2) {
			struct scene s = { .nested = nested };
			struct scene never = { .runs = 0 };
			uint64_t id, waits;

			CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
			waits = spawn(wait_for_turn, &never);
			id = spawn_with(flags, compute, &s);
			join(id);
			store_seq_cst(&never.runs, 1);
			join(waits);
			runtime_end();
		}
}

/* The control, of which a section would make a hang. */
static void behind_a_section_it_is_stopped(void)
{
	for (unsigned flags = 0; flags <= WEFT_LIGHT; flags += WEFT_LIGHT) {
		struct scene s = { .runs = 0 };
		uint64_t id[2];

		CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
		weft_preempt_on(weft_preempt_off());
		id[0] = spawn_with(flags, compute_freely, &s);
		id[1] = spawn(be_run, &s);
		join(id[0]);
		join(id[1]);
		runtime_end();
	}
}

static void *hold_as_foreign(void *unused)
{
	void *held = weft_preempt_off();

	must(held == NULL);
	must(wefti_self() == NULL);
	weft_preempt_on(held);
	must(wefti_self() == NULL);	/* not even now */
	return unused;
}

static void it_makes_no_foreign_thread_of_a_kernel_thread(void)
{
	pthread_t thread;

	for (int runs = 0; runs < 2; runs++) {
		if (runs)
			CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL,
						     hold_as_foreign, NULL), 0);
		pthread_join(thread, NULL);
		if (runs)
			runtime_end();
	}
}

static const struct test_case cases[] = {
	TEST(in_a_section_it_is_not_stopped),
	TEST(behind_a_section_it_is_stopped),
	TEST(it_makes_no_foreign_thread_of_a_kernel_thread),
};

TEST_MAIN("sched/hold", cases)
