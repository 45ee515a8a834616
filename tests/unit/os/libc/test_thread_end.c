/* SPDX-License-Identifier: MIT */
/*
 * test_thread_end.c - os/thread_end: in reverse order, where the TLS ends
 *
 * The linker puts __wrap___cxa_thread_atexit_impl() in front of libc's, which
 * can fail.
 */
#include "os/libc/thread_end.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "forked.h"
#include "../mini.h"

#define MANY	1000

static int is_full;
static int order[MANY + 2], number[MANY + 2];
static size_t count;

int __real___cxa_thread_atexit_impl(void (*fn)(void *arg), void *arg,
				    void *library);
int __wrap___cxa_thread_atexit_impl(void (*fn)(void *arg), void *arg,
				    void *library);

int __wrap___cxa_thread_atexit_impl(void (*fn)(void *arg), void *arg,
				    void *library)
{
	if (is_full)
		return -1;
	return __real___cxa_thread_atexit_impl(fn, arg, library);
}

static void note(void *arg)
{
	if (count < MANY + 2)
		order[count++] = *(int *)arg;
}

static void note_and_ask(void *arg)
{
	note(arg);
	CU_ASSERT_EQUAL(wefti_os_at_thread_end(note, &number[MANY + 1]), 0);
}

static int in_reverse_order(size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (order[i] != (int)(n - 1 - i))
			return 0;
	return count == n;
}

static void *ask_often(void *unused)
{
	for (size_t i = 0; i < MANY; i++)
		CU_ASSERT_EQUAL(wefti_os_at_thread_end(note, &number[i]), 0);
	CU_ASSERT_EQUAL(count, 0);
	return unused;
}

static void begin(void)
{
	count = 0;
	for (int i = 0; i < MANY + 2; i++)
		number[i] = i;
}

static void run(void *(*body)(void *))
{
	pthread_t thread;

	begin();
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, body, NULL), 0);
	pthread_join(thread, NULL);
}

static void the_last_asked_is_the_first_run(void)
{
	run(ask_often);
	CU_ASSERT_TRUE(in_reverse_order(MANY));
}

/* As a C++ destructor may use a thread_local object for the first time. */
static void *ask_at_the_end(void *unused)
{
	CU_ASSERT_EQUAL(wefti_os_at_thread_end(note, &number[0]), 0);
	CU_ASSERT_EQUAL(wefti_os_at_thread_end(note_and_ask, &number[1]), 0);
	return unused;
}

static void what_is_asked_at_the_end_is_run_next(void)
{
	run(ask_at_the_end);
	CU_ASSERT_EQUAL(count, 3);
	CU_ASSERT_TRUE(order[0] == 1 && order[1] == MANY + 1 && order[2] == 0);
}

static void *ask_in_vain(void *unused)
{
	is_full = 1;
	CU_ASSERT_EQUAL(wefti_os_at_thread_end(note, &number[0]), -ENOMEM);
	is_full = 0;
	return unused;
}

static void what_was_refused_is_not_run(void)
{
	run(ask_in_vain);
	CU_ASSERT_EQUAL(count, 0);
}

static void say(void *text)
{
	fputs(text, stderr);
}

static void ask_and_exit(void)
{
	must(wefti_os_at_thread_end(say, "first\n") == 0);
	must(wefti_os_at_thread_end(say, "second\n") == 0);
	exit(0);
}

/* A sanitizer may have a word after it. */
static void exit_runs_those_of_its_caller(void)
{
	static const char expected[] = "second\nfirst\n";

	CU_ASSERT_EQUAL(in_child(ask_and_exit), 0);
	CU_ASSERT_EQUAL(strncmp(said, expected, sizeof(expected) - 1), 0);
	CU_ASSERT_PTR_NULL(strstr(said + 1, "second"));
}

static void live_in_a_block(struct mini *self)
{
	MINI_CHECK(self, count == 0);
	for (size_t i = 0; i < 3; i++)
		MINI_CHECK(self, wefti_os_at_thread_end(note, &number[i]) ==
				  0);
	mini_yield(self);
	MINI_CHECK(self, count == 0);
}

/* The kernel thread that carries it has its own, and goes on. */
static void a_block_has_its_own_end(void)
{
	struct mini f;

	if (wefti_tls_init() != 0) {
		printf("    none here: %s\n", wefti_tls_reason());
		return;
	}
	begin();
	mini_make(&f, 1, live_in_a_block);
	for (int i = 0; i < 2; i++) {
		mini_run(&f);
		CU_ASSERT_EQUAL(count, 0);
		mini_run(&f);
		CU_ASSERT_TRUE(f.done && f.bad == 0);
		CU_ASSERT_TRUE(in_reverse_order(3));
		count = 0;
		mini_renew(&f, live_in_a_block);
	}
	mini_free(&f);
	CU_ASSERT_EQUAL(count, 0);
}

static const struct test_case cases[] = {
	TEST(the_last_asked_is_the_first_run),
	TEST(what_is_asked_at_the_end_is_run_next),
	TEST(what_was_refused_is_not_run),
	TEST(exit_runs_those_of_its_caller),
	TEST(a_block_has_its_own_end),
};

TEST_MAIN("os/thread_end", cases)
