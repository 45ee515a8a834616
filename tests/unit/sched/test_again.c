/* SPDX-License-Identifier: MIT */
/*
 * test_again.c - sched/again: a kernel thread that has asked gets one signal, unless its
 * thread has left
 *
 * Without the runtime: the test is the monitor too. The signal is blocked here, so a case
 * sees whether it has come.
 */
#include "sched/again.h"

#include <pthread.h>
#include <signal.h>

#include "os/call/tid.h"
#include "os/signal/signal.h"
#include "support.h"

static struct wefti_kthread here, other;

static void begin(void)
{
	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, wefti_os_preempt_signal());
	pthread_sigmask(SIG_BLOCK, &ours, NULL);
	here.tid = wefti_os_gettid();
	other.tid = here.tid + 1;
}

/* Has the signal come since the last call? Takes it. */
static int came(void)
{
	sigset_t pending, ours;
	int signal;

	sigpending(&pending);
	if (!sigismember(&pending, wefti_os_preempt_signal()))
		return 0;
	sigemptyset(&ours);
	sigaddset(&ours, wefti_os_preempt_signal());
	return sigwait(&ours, &signal) == 0;
}

static int is_empty(void)
{
	return load_seq_cst(&wefti_rt.again) == NULL &&
	       load_seq_cst(&here.again) == WEFTI_AGAIN_NONE;
}

static void a_kernel_thread_that_asks_twice_is_signalled_once(void)
{
	begin();
	wefti_again_ask(&here);
	wefti_again_ask(&here);
	CU_ASSERT_EQUAL(came(), 0);
	wefti_again_signal_all();
	CU_ASSERT_EQUAL(came(), 1);
	CU_ASSERT_TRUE(is_empty());
	wefti_again_signal_all();
	CU_ASSERT_EQUAL(came(), 0);
}

static void a_kernel_thread_whose_thread_has_left_is_not_signalled(void)
{
	begin();
	wefti_again_ask(&here);
	wefti_again_leaves(&here);
	wefti_again_signal_all();
	CU_ASSERT_EQUAL(came(), 0);
	CU_ASSERT_TRUE(is_empty());
}

static void a_kernel_thread_that_asks_after_its_thread_has_left_is_signalled(void)
{
	begin();
	wefti_again_ask(&here);
	wefti_again_leaves(&here);
	wefti_again_ask(&here);
	wefti_again_signal_all();
	CU_ASSERT_EQUAL(came(), 1);
	CU_ASSERT_TRUE(is_empty());
}

static void only_the_kernel_thread_itself_asks(void)
{
	begin();
	wefti_again_ask(&other);
	CU_ASSERT_TRUE(is_empty());
	CU_ASSERT_EQUAL(load_seq_cst(&other.again), WEFTI_AGAIN_NONE);
}

static void a_kernel_thread_can_ask_any_number_of_times(void)
{
	begin();
	for (int i = 0; i < 3; i++) {
		wefti_again_ask(&here);
		CU_ASSERT_PTR_EQUAL(load_seq_cst(&wefti_rt.again), &here);
		CU_ASSERT_PTR_NULL(here.again_next);
		wefti_again_signal_all();
		CU_ASSERT_EQUAL(came(), 1);
	}
}

static const struct test_case cases[] = {
	TEST(a_kernel_thread_that_asks_twice_is_signalled_once),
	TEST(a_kernel_thread_whose_thread_has_left_is_not_signalled),
	TEST(a_kernel_thread_that_asks_after_its_thread_has_left_is_signalled),
	TEST(only_the_kernel_thread_itself_asks),
	TEST(a_kernel_thread_can_ask_any_number_of_times),
};

TEST_MAIN("sched/again", cases)
