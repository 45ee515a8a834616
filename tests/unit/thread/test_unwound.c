/* SPDX-License-Identifier: MIT */
/* test_unwound.c - pthread/signal/unwound.c: no handler comes between a call and its end */
#include "pthread/core/prototypes.h"

/* in place of real.h */
#define WEFT_PTHREAD_CORE_REAL_H
#define REAL(name)	name

#define __pthread_register_cancel	note_begin
#define __pthread_unregister_cancel	note_end

static void note_begin(__pthread_unwind_buf_t *buf);
static void note_end(__pthread_unwind_buf_t *buf);

#include "pthread/signal/unwound.c"

#include "support.h"

_Thread_local struct wefti_pt wefti_pt;

static int runs, held_at_end;

static void note_begin(__pthread_unwind_buf_t *buf)
{
	(void)buf;
}

/* From here on what a handler leaves is cleaned up by nobody. */
static void note_end(__pthread_unwind_buf_t *buf)
{
	(void)buf;
	held_at_end = load_relaxed(&wefti_pt.taking) != 0;
}

/* As signal.c's: what it takes is taken when it returns. */
void wefti_signals_run(void)
{
	runs++;
	store_relaxed(&wefti_pt.urgent, 0);
	(void)wefti_signal_taken();
}

static void is_left(void *arg)
{
	(void)arg;
	CU_FAIL("nothing is left");
}

static void a_caller_that_goes_on_holds_handlers_before_the_end(void)
{
	runs = 0;
	wefti_unwound_begin();
	store_relaxed(&wefti_pt.urgent, WEFTI_URGENT_SIGNAL);
	wefti_unwound_again(is_left, NULL);
	CU_ASSERT_EQUAL(runs, 1);
	CU_ASSERT_TRUE(held_at_end);
	CU_ASSERT_TRUE(load_relaxed(&wefti_pt.taking));
	(void)wefti_signal_taken();
}

static void without_a_signal_they_are_held_too(void)
{
	runs = 0;
	wefti_unwound_again(is_left, NULL);
	CU_ASSERT_EQUAL(runs, 0);
	CU_ASSERT_TRUE(load_relaxed(&wefti_pt.taking));
	(void)wefti_signal_taken();
}

/* pthread_join() goes on without end(). */
static void another_caller_holds_none(void)
{
	runs = 0;
	store_relaxed(&wefti_pt.urgent, WEFTI_URGENT_SIGNAL);
	wefti_unwound_signals(is_left, NULL);
	CU_ASSERT_EQUAL(runs, 1);
	CU_ASSERT_FALSE(held_at_end);
	CU_ASSERT_FALSE(load_relaxed(&wefti_pt.taking));
}

static const struct test_case cases[] = {
	TEST(a_caller_that_goes_on_holds_handlers_before_the_end),
	TEST(without_a_signal_they_are_held_too),
	TEST(another_caller_holds_none),
};

TEST_MAIN("pthread/signal/unwound", cases)
