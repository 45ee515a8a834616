/* SPDX-License-Identifier: MIT */
/* test_profile.c - observe/profile: stacks are wanted for as long as a reader asks */
#include "threads.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "observe/profile.h"
#include "observe/trace.h"
#include "os/signal/signal.h"
#include "record/memory.h"
#include "sched/on_cpu.h"
#include "sched/stacks.h"

/* This process is its own reader. */
static void ask(uint32_t stacks)
{
	const uint64_t value = (uint64_t)WEFTI_PROFILE_MARK << 32 | stacks;
	const union sigval v = { .sival_ptr = (void *)(uintptr_t)value };

	do {
		must(sigqueue(getpid(), wefti_os_preempt_signal(), v) == 0);
		usleep(1000);
	} while (load_seq_cst(&wefti_record_head()->stacks) != stacks);
}

static void it_is_as_the_last_reader_asks(void)
{
	runtime_begin();
	must(weft_trace_start(0) == 0);
	CU_ASSERT_FALSE(wefti_stacks_are_wanted());
	ask(WEFTI_RECORD_STACKS(99, 4, 7));
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_stacks.every), 7);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_stacks.bytes), 4096);
	ask(WEFTI_RECORD_STACKS(0, 1, 0));
	CU_ASSERT_FALSE(wefti_stacks_are_wanted());
	ask(0);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_stacks.bytes), 0);
	runtime_end();
}

/* As if it had been killed. The watchdog ends what never comes. */
static void a_reader_that_asks_no_more_is_forgotten(void)
{
	runtime_begin();
	must(weft_trace_start(0) == 0);
	ask(WEFTI_RECORD_STACKS(99, 4, 1));
	while (wefti_stacks_are_wanted())
		usleep(10000);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_record_head()->stacks), 0);
	runtime_end();
}

static void nobody_asks_after_a_stop(void)
{
	runtime_begin();
	must(weft_trace_start(0) == 0);
	ask(WEFTI_RECORD_STACKS(99, 4, 1));
	CU_ASSERT_TRUE(wefti_stacks_are_wanted());
	runtime_end();
	CU_ASSERT_FALSE(wefti_stacks_are_wanted());
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_record_head()->stacks), 0);
}

#define TIMERS	64	/* some have the numbers of the parent's */

/* Runs in the child. The kernel numbers a process's timers from 0 on. */
static int timers_stay(void)
{
	struct sigevent none = { .sigev_notify = SIGEV_NONE };
	struct itimerspec now;
	timer_t timer[TIMERS];

	for (int i = 0; i < TIMERS; i++)
		if (timer_create(CLOCK_MONOTONIC, &none, &timer[i]) != 0)
			return 1;
	wefti_profile_forget();
	for (int i = 0; i < TIMERS; i++)
		if (timer_gettime(timer[i], &now) != 0)
			return 2;
	return 0;
}

/* As in a handler of fork()'s that comes before weft's. */
static void the_child_of_a_fork_keeps_its_timers(void)
{
	int status = -1;
	long pid;

	runtime_begin();
	must(weft_trace_start(0) == 0);
	if (wefti_on_cpu_sample(99) != 0)
		printf("the kernel gives no timers\n");
	pid = clone_alone();
	if (pid == 0)
		exit_alone(timers_stay());
	CU_ASSERT_EQUAL(waitpid((pid_t)pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
	wefti_on_cpu_end();
	runtime_end();
}

static void other_signals_are_left_alone(void)
{
	siginfo_t info = { .si_code = SI_USER };
	const uint64_t value = (uint64_t)WEFTI_PROFILE_MARK << 32 | 1;

	info.si_value.sival_ptr = (void *)(uintptr_t)value;
	CU_ASSERT_EQUAL(wefti_profile_note(&info), 0);
	info.si_code = SI_QUEUE;
	info.si_value.sival_ptr = (void *)(uintptr_t)(value ^ (uint64_t)1 << 40);
	CU_ASSERT_EQUAL(wefti_profile_note(&info), 0);
}

static const struct test_case cases[] = {
	TEST(it_is_as_the_last_reader_asks),
	TEST(a_reader_that_asks_no_more_is_forgotten),
	TEST(nobody_asks_after_a_stop),
	TEST(the_child_of_a_fork_keeps_its_timers),
	TEST(other_signals_are_left_alone),
};

TEST_MAIN("observe/profile", cases)
