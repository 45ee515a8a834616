/* SPDX-License-Identifier: MIT */
/* test_futex.c - os/futex: a sleep on a word ends for four reasons */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>

#include "lockfree/atomic.h"
#include "os/call/clock.h"
#include "os/call/futex.h"
#include "os/call/tid.h"
#include "os/kthread/kthread.h"
#include "support.h"

static _Atomic uint32_t word, turns, tid;

static void wait_returns_when_the_value_differs(void)
{
	store_seq_cst(&word, 1);
	CU_ASSERT_EQUAL(wefti_os_futex_wait(&word, 0, INT64_MAX), 0);
}

static void wait_ends_at_the_deadline(void)
{
	int64_t deadline = wefti_os_now_ns() + 2000000;

	store_seq_cst(&word, 7);
	while (wefti_os_futex_wait(&word, 7, deadline) == 0)
		;
	CU_ASSERT(wefti_os_now_ns() >= deadline);
}

static void deadline_in_the_past_does_not_wait(void)
{
	store_seq_cst(&word, 7);
	CU_ASSERT_EQUAL(wefti_os_futex_wait(&word, 7, 0), -ETIMEDOUT);
	CU_ASSERT_EQUAL(wefti_os_futex_wait(&word, 7, -5), -ETIMEDOUT);
	CU_ASSERT_EQUAL(wefti_os_futex_wait(&word, 7, INT64_MIN), -ETIMEDOUT);
}

static void wake_tells_how_many_there_were(void)
{
	CU_ASSERT_EQUAL(wefti_os_futex_wake(&word, 1), 0);
	CU_ASSERT_EQUAL(wefti_os_futex_wake(&word, INT_MAX), 0);
}

/* Each turn belongs to the side that the word's lowest bit names. */
static void *answer(void *arg)
{
	uint32_t limit = *(const uint32_t *)arg;

	for (uint32_t i = 1; i < limit; i += 2) {
		while (load_seq_cst(&word) != i)
			wefti_os_futex_wait(&word, i - 1, INT64_MAX);
		fetch_add_seq_cst(&turns, 1);
		store_seq_cst(&word, i + 1);
		wefti_os_futex_wake(&word, 1);
	}
	return NULL;
}

static void two_take_turns(void)
{
	uint32_t limit = (uint32_t)test_scaled(5000) * 2;
	pthread_t other;

	store_seq_cst(&word, 0);
	store_seq_cst(&turns, 0);
	pthread_create(&other, NULL, answer, &limit);
	for (uint32_t i = 0; i < limit; i += 2) {
		store_seq_cst(&word, i + 1);
		wefti_os_futex_wake(&word, 1);
		while (load_seq_cst(&word) != i + 2)
			wefti_os_futex_wait(&word, i + 1, INT64_MAX);
	}
	pthread_join(other, NULL);
	CU_ASSERT_EQUAL(load_seq_cst(&turns), limit / 2);
}

static void on_signal(int signal)
{
	(void)signal;
}

static void *sleep_until_signalled(void *arg)
{
	int *result = arg;

	store_seq_cst(&tid, (uint32_t)wefti_os_gettid());
	*result = wefti_os_futex_wait(&word, 3, INT64_MAX);
	store_seq_cst(&word, 4);
	return NULL;
}

static void signal_handler_ends_the_wait(void)
{
	struct sigaction action = { .sa_handler = on_signal }, old;
	int result = 1;
	pthread_t other;

	sigaction(SIGUSR1, &action, &old);
	store_seq_cst(&word, 3);
	store_seq_cst(&tid, 0);
	pthread_create(&other, NULL, sleep_until_signalled, &result);
	while (!load_seq_cst(&tid))
		wefti_os_yield();
	/* The first ones may come before the sleep. */
	while (load_seq_cst(&word) == 3) {
		wefti_os_kthread_signal((int)load_seq_cst(&tid), SIGUSR1);
		wefti_os_yield();
	}
	pthread_join(other, NULL);
	CU_ASSERT_EQUAL(result, 0);
	sigaction(SIGUSR1, &old, NULL);
}

static const struct test_case cases[] = {
	TEST(wait_returns_when_the_value_differs),
	TEST(wait_ends_at_the_deadline),
	TEST(deadline_in_the_past_does_not_wait),
	TEST(wake_tells_how_many_there_were),
	TEST(two_take_turns),
	TEST(signal_handler_ends_the_wait),
};

TEST_MAIN("os/futex", cases)
