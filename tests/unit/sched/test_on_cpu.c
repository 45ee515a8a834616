/* SPDX-License-Identifier: MIT */
/* test_on_cpu.c - sched/on_cpu: a thread that computes is seen, with its stack */
#include "recorded_stacks.h"

#include <stdio.h>

#include "sched/on_cpu.h"

static _Atomic int goes_on, has_begun;

static NOINLINE void compute(volatile uint64_t *word)
{
	while (load_seq_cst(&goes_on))
		*word = *word + 1;
}

static NOINLINE void *computes(void *arg)
{
	volatile uint64_t mark[4] = { MARK, MARK, MARK, 0 };

	/* Its own kernel thread, too: another one may carry the VCPU when main looks. */
	(void)wefti_on_cpu_sample(1000);
	store_seq_cst(&has_begun, 1);
	compute(&mark[3]);
	return arg;
}

/* The watchdog ends what never comes. */
static void a_thread_that_computes_is_sampled(void)
{
	uint64_t id;

	runtime_begin();
	must(weft_trace_start(0) == 0);
	store_seq_cst(&wefti_stacks.bytes, 1024);
	store_seq_cst(&goes_on, 1);
	must(weft_spawn(&id, NULL, computes, NULL) == 0);
	while (!load_seq_cst(&has_begun))
		must(weft_sleep(1000000) == 0);
	do {
		/* Again: the VCPU may have got another kernel thread. */
		if (wefti_on_cpu_sample(1000) != 0) {
			printf("the kernel gives no timers\n");
			break;
		}
		must(weft_sleep(1000000) == 0);
		read_all(id);
	} while (seen.samples < 3 || !seen.marked);
	wefti_on_cpu_end();
	store_seq_cst(&goes_on, 0);
	must(weft_join(id, NULL) == 0);
	runtime_end();
}

static uint64_t samples_now(void)
{
	read_all(0);
	return seen.samples;
}

/* One that is on its way may come still. */
static void nothing_is_sampled_any_more(void)
{
	volatile unsigned n = 0;
	uint64_t before;

	runtime_begin();
	must(weft_trace_start(0) == 0);
	store_seq_cst(&wefti_stacks.bytes, 1024);
	(void)wefti_on_cpu_sample(1000);
	wefti_on_cpu_end();
	must(weft_sleep(10000000) == 0);
	before = samples_now();
	while (n < 30000000)
		n = n + 1;
	CU_ASSERT_EQUAL(samples_now(), before);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(a_thread_that_computes_is_sampled),
	TEST(nothing_is_sampled_any_more),
};

TEST_MAIN("sched/on_cpu", cases)
