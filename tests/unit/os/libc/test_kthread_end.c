/* SPDX-License-Identifier: MIT */
/* test_kthread_end.c - os/kthread_end: each kernel thread's arg, at its end */
#include "os/libc/kthread_end.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>

#include "forked.h"
#include "lockfree/atomic.h"

#define CREW	8

static _Atomic int calls;
static int ended[CREW];		/* how often it was called with this */
static pthread_t ended_in[CREW];

static void at_end(void *arg)
{
	size_t i = (size_t)((int *)arg - ended);

	ended[i]++;
	ended_in[i] = pthread_self();
	fetch_add_seq_cst(&calls, 1);
}

static void begin(void)
{
	store_seq_cst(&calls, 0);
	for (size_t i = 0; i < CREW; i++)
		ended[i] = 0;
}

static void run(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, body, arg), 0);
	pthread_join(thread, NULL);
}

/* A program may have used up libc's keys before. */
static void without_keys(void)
{
	pthread_key_t key;

	for (int i = 0; i < PTHREAD_KEYS_MAX; i++)
		if (pthread_key_create(&key, NULL) != 0)
			break;
	must(wefti_os_at_kthread_end(at_end, ended) == -EAGAIN);
	must(pthread_key_delete(key) == 0);
	/* What was refused once is refused to all others. */
	must(wefti_os_at_kthread_end(at_end, ended) == -EAGAIN);
}

static void without_a_key_it_is_eagain(void)
{
	child_is_well(without_keys);
}

/* NULL: it was promised, and not done at once. */
static void *ask(void *arg)
{
	return wefti_os_at_kthread_end(at_end, arg) == 0 && *(int *)arg == 0 ?
	       NULL : arg;
}

static void each_ends_with_its_own_arg(void)
{
	pthread_t thread[CREW];
	void *failed;

	begin();
	for (size_t i = 0; i < CREW; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, ask,
						     &ended[i]), 0);
	for (size_t i = 0; i < CREW; i++) {
		pthread_join(thread[i], &failed);
		CU_ASSERT_PTR_NULL(failed);
	}
	for (size_t i = 0; i < CREW; i++) {
		CU_ASSERT_EQUAL(ended[i], 1);
		CU_ASSERT_TRUE(pthread_equal(ended_in[i], thread[i]));
	}
	CU_ASSERT_EQUAL(load_seq_cst(&calls), CREW);
}

static void *ask_twice(void *unused)
{
	CU_ASSERT_EQUAL(wefti_os_at_kthread_end(at_end, &ended[0]), 0);
	CU_ASSERT_EQUAL(wefti_os_at_kthread_end(at_end, &ended[1]), 0);
	return unused;
}

static void the_last_arg_is_the_one(void)
{
	begin();
	run(ask_twice, NULL);
	CU_ASSERT_EQUAL(load_seq_cst(&calls), 1);
	CU_ASSERT_EQUAL(ended[0], 0);
	CU_ASSERT_EQUAL(ended[1], 1);
}

static void *take_back(void *unused)
{
	CU_ASSERT_EQUAL(wefti_os_at_kthread_end(at_end, &ended[0]), 0);
	CU_ASSERT_EQUAL(wefti_os_at_kthread_end(at_end, NULL), 0);
	return unused;
}

static void *ask_nothing(void *unused)
{
	return unused;
}

static void without_a_request_or_with_one_taken_back_the_end_is_silent(void)
{
	begin();
	run(take_back, NULL);
	run(ask_nothing, NULL);
	CU_ASSERT_EQUAL(load_seq_cst(&calls), 0);
}

static void *ask_and_exit(void *arg)
{
	pthread_exit(ask(arg));
}

static void an_end_by_pthread_exit_is_one(void)
{
	begin();
	run(ask_and_exit, &ended[3]);
	CU_ASSERT_EQUAL(ended[3], 1);
	CU_ASSERT_EQUAL(load_seq_cst(&calls), 1);
}

static const struct test_case cases[] = {
	TEST(without_a_key_it_is_eagain),	/* before there is one */
	TEST(each_ends_with_its_own_arg),
	TEST(the_last_arg_is_the_one),
	TEST(without_a_request_or_with_one_taken_back_the_end_is_silent),
	TEST(an_end_by_pthread_exit_is_one),
};

TEST_MAIN("os/kthread_end", cases)
