/* SPDX-License-Identifier: MIT */
/* test_cpu_timer.c - os/cpu_timer: a signal for the CPU time of a kernel thread */
#include <stdio.h>

#include "os/call/tid.h"
#include "os/signal/cpu_timer.h"
#include "support.h"

static volatile sig_atomic_t came, of_timer;

static void seen(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	came++;
	of_timer += wefti_os_cpu_timer_is(info);
}

static void nothing(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
}

/* The watchdog ends what never comes. */
static void a_kernel_thread_that_computes_gets_signals(void)
{
	int timer;

	wefti_os_signal_preempt(nothing, NULL);
	wefti_os_cpu_timer_handler(seen);
	timer = wefti_os_cpu_timer_start(wefti_os_gettid(), 1000000);
	if (timer < 0)
		printf("the kernel gives no timers\n");
	while (timer >= 0 && came < 3)
		;
	CU_ASSERT_EQUAL(came, of_timer);
	if (timer >= 0)
		wefti_os_cpu_timer_end(timer);
	wefti_os_cpu_timer_handler(NULL);
	wefti_os_signal_preempt_end();
}

static void other_signals_are_not_its(void)
{
	siginfo_t info = { .si_code = SI_TIMER };

	CU_ASSERT_FALSE(wefti_os_cpu_timer_is(&info));
	info.si_code = SI_QUEUE;
	CU_ASSERT_FALSE(wefti_os_cpu_timer_is(&info));
}

static const struct test_case cases[] = {
	TEST(a_kernel_thread_that_computes_gets_signals),
	TEST(other_signals_are_not_its),
};

TEST_MAIN("os/cpu_timer", cases)
