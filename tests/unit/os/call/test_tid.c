/* SPDX-License-Identifier: MIT */
/* test_tid.c - os/tid: each kernel thread has an id, by which it gets signals */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "os/call/tid.h"
#include "support.h"

static _Atomic uint32_t id, handled_by, may_end;

static void note(int signal)
{
	(void)signal;
	store_seq_cst(&handled_by, (uint32_t)wefti_os_gettid());
}

static void *tell_and_wait(void *unused)
{
	(void)unused;
	store_seq_cst(&id, (uint32_t)wefti_os_gettid());
	while (!load_seq_cst(&may_end))
		sched_yield();
	return NULL;
}

static void first_thread_has_the_processs(void)
{
	CU_ASSERT_EQUAL(wefti_os_gettid(), getpid());
}

static void a_signal_comes_to_the_one_that_is_named(void)
{
	struct sigaction action = { .sa_handler = note };
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(sigaction(SIGUSR1, &action, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, tell_and_wait, NULL), 0);
	while (!load_seq_cst(&id))
		sched_yield();
	CU_ASSERT_NOT_EQUAL(load_seq_cst(&id), (uint32_t)wefti_os_gettid());
	CU_ASSERT_EQUAL(wefti_os_kthread_signal((int)load_seq_cst(&id), SIGUSR1), 0);
	while (!load_seq_cst(&handled_by))
		sched_yield();
	CU_ASSERT_EQUAL(load_seq_cst(&handled_by), load_seq_cst(&id));
	store_seq_cst(&may_end, 1);
	pthread_join(thread, NULL);
	/* join() returns when the kernel has cleared the id, a bit before. */
	while (wefti_os_kthread_signal((int)load_seq_cst(&id), 0) == 0)
		sched_yield();
	CU_ASSERT_EQUAL(wefti_os_kthread_signal((int)load_seq_cst(&id), 0), -ESRCH);
}

static void one_that_has_not_begun_gets_no_signal(void)
{
	CU_ASSERT_EQUAL(wefti_os_kthread_signal(0, SIGUSR1), -ESRCH);
}

static int seven(void)
{
	return 7;
}

static void another_function_may_tell_the_id(void)
{
	wefti_os_gettid_by(seven);
	CU_ASSERT_EQUAL(wefti_os_gettid(), 7);
	wefti_os_gettid_by(NULL);
	CU_ASSERT_EQUAL(wefti_os_gettid(), getpid());
}

static const struct test_case cases[] = {
	TEST(first_thread_has_the_processs),
	TEST(a_signal_comes_to_the_one_that_is_named),
	TEST(one_that_has_not_begun_gets_no_signal),
	TEST(another_function_may_tell_the_id),
};

TEST_MAIN("os/tid", cases)
