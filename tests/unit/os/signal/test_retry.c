/* SPDX-License-Identifier: MIT */
/* test_retry.c - os/retry: a kernel thread is sent the preemption signal, soon */
#include <signal.h>

#include "os/signal/retry.h"
#include "os/signal/signal.h"
#include "support.h"

static volatile sig_atomic_t came, others;

static void count(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	if (wefti_os_retry_is(info))
		came++;
	else
		others++;
}

static void each_request_is_answered_once(void)
{
	struct wefti_os_retry r = { 0, 0 };

	wefti_os_signal_preempt(count, NULL);
	for (int i = 1; i <= 100; i++) {
		wefti_os_retry_soon(&r);
		while (came < i)
			;
	}
	wefti_os_retry_done(&r);
	CU_ASSERT_EQUAL(r.tries, 0);
	wefti_os_retry_end(&r);
	wefti_os_retry_end(&r);
	CU_ASSERT_EQUAL(came, 100);
	CU_ASSERT_EQUAL(others, 0);
	wefti_os_signal_preempt_end();
}

static const struct test_case cases[] = {
	TEST(each_request_is_answered_once),
};

TEST_MAIN("os/retry", cases)
