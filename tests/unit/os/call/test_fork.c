/* SPDX-License-Identifier: MIT */
/*
 * test_fork.c - os/fork: which handlers are called in a child, how often, and
 * where not
 *
 * The linker puts __wrap___register_atfork() in front of libc's, which can fail: what
 * pthread_atfork() calls.
 */
#include "os/call/fork.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "forked.h"
#include "lockfree/atomic.h"
#include "os/kthread/kthread.h"

static int is_full;
static char calls[8];
static pid_t called_in;

int __real___register_atfork(void (*prepare)(void), void (*parent)(void),
			     void (*child)(void), void *object);
int __wrap___register_atfork(void (*prepare)(void), void (*parent)(void),
			     void (*child)(void), void *object);

int __wrap___register_atfork(void (*prepare)(void), void (*parent)(void),
			     void (*child)(void), void *object)
{
	return is_full ? ENOMEM : __real___register_atfork(prepare, parent, child,
							 object);
}

static void note(char who)
{
	size_t n = strlen(calls);

	if (n + 1 < sizeof(calls))
		calls[n] = who;
	called_in = getpid();
}

static void first(void)
{
	note('a');
}

static void second(void)
{
	note('b');
}

static void never(void)
{
	note('!');
}

static void no_room_is_enomem_and_nothing_is_called(void)
{
	is_full = 1;
	CU_ASSERT_EQUAL(wefti_os_at_fork(never), -ENOMEM);
	is_full = 0;
}

static void see_the_calls(void)
{
	pid_t grandchild;
	int status;

	must(strcmp(calls, "ab") == 0);
	must(called_in == getpid());
	grandchild = fork();
	if (grandchild == 0) {
		/* What was called in the parent is in our memory too. */
		must(strcmp(calls, "abab") == 0);
		must(called_in == getpid());
		_exit(0);
	}
	must(waitpid(grandchild, &status, 0) == grandchild && status == 0);
	must(strcmp(calls, "ab") == 0);
}

/* Once, in whichever case is the first. */
static void ask_for_both(void)
{
	static int is_done;

	if (is_done)
		return;
	is_done = 1;
	CU_ASSERT_EQUAL(wefti_os_at_fork(first), 0);
	CU_ASSERT_STRING_EQUAL(calls, "");
	CU_ASSERT_EQUAL(wefti_os_at_fork(second), 0);
}

static void each_child_and_grandchild_calls_each_once_in_order(void)
{
	ask_for_both();
	for (int i = 0; i < 3; i++) {
		child_is_well(see_the_calls);
		CU_ASSERT_STRING_EQUAL(calls, "");	/* not in the parent */
	}
}

static _Atomic int is_up, is_over;

static void *beside(void *unused)
{
	store_seq_cst(&is_up, 1);
	while (!load_seq_cst(&is_over))
		wefti_os_yield();
	return unused;
}

static void see_no_other(void)
{
	must(strcmp(calls, "ab") == 0);
	must(load_seq_cst(&is_up) == 1);
}

static void *fork_there(void *unused)
{
	child_is_well(see_the_calls);
	child_is_well(see_no_other);
	return unused;
}

static void any_kernel_thread_may_fork(void)
{
	pthread_t other, forker;

	ask_for_both();
	CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, beside, NULL), 0);
	while (!load_seq_cst(&is_up))
		wefti_os_yield();
	CU_ASSERT_EQUAL_FATAL(pthread_create(&forker, NULL, fork_there, NULL),
			      0);
	pthread_join(forker, NULL);
	CU_ASSERT_STRING_EQUAL(calls, "");
	store_seq_cst(&is_over, 1);
	pthread_join(other, NULL);
}

static int begun, ended;

static void begin(void)
{
	begun++;
}

static void end(void)
{
	ended++;
}

static void see_both(void)
{
	must(begun == 1 && ended == 1);
}

static void a_fork_tells_before_and_each_side_after(void)
{
	is_full = 1;
	CU_ASSERT_EQUAL(wefti_os_around_fork(begin, end), -ENOMEM);
	is_full = 0;
	CU_ASSERT_EQUAL(wefti_os_around_fork(begin, end), 0);
	child_is_well(see_both);
	CU_ASSERT_EQUAL(begun, 1);
	CU_ASSERT_EQUAL(ended, 1);
}

static const struct test_case cases[] = {
	TEST(no_room_is_enomem_and_nothing_is_called),
	TEST(each_child_and_grandchild_calls_each_once_in_order),
	TEST(any_kernel_thread_may_fork),
	TEST(a_fork_tells_before_and_each_side_after),
};

TEST_MAIN("os/fork", cases)
