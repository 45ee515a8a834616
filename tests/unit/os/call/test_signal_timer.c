/* SPDX-License-Identifier: MIT */
/* test_signal_timer.c - os/signal_timer: a timer's signal comes, with its mark */
#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "os/call/signal_timer.h"
#include "os/call/tid.h"
#include "support.h"

static char mark;
static volatile sig_atomic_t came, marked;

static void count(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	came++;
	marked += info->si_code == SI_TIMER && info->si_value.sival_ptr == &mark;
}

/* The watchdog ends what never comes. */
static void its_signal_comes_again_and_again(void)
{
	const struct sigaction act = { .sa_sigaction = count, .sa_flags = SA_SIGINFO };
	int timer;

	CU_ASSERT_TRUE_FATAL(sigaction(SIGUSR1, &act, NULL) == 0);
	timer = wefti_os_signal_timer_make(CLOCK_MONOTONIC, wefti_os_gettid(), SIGUSR1,
					   &mark);
	CU_ASSERT_TRUE_FATAL(timer >= 0);
	wefti_os_signal_timer_set(timer, 1000, 1000000);
	while (came < 3)
		usleep(1000);
	wefti_os_signal_timer_delete(timer);
	CU_ASSERT_EQUAL(came, marked);
}

static void a_clock_that_is_not_there_is_refused(void)
{
	CU_ASSERT_EQUAL(wefti_os_signal_timer_make(1000, wefti_os_gettid(), SIGUSR1, &mark),
			-EINVAL);
}

static const struct test_case cases[] = {
	TEST(its_signal_comes_again_and_again),
	TEST(a_clock_that_is_not_there_is_refused),
};

TEST_MAIN("os/signal_timer", cases)
