/* SPDX-License-Identifier: MIT */
/*
 * test_gate.c - observe/gate: the kernel threads that look, and the waits for
 * them
 */
#include "observe/gate.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include "lockfree/atomic.h"
#include "support.h"

#define CREW	2

static void nobody_begins_unless_it_is_open(void)
{
	CU_ASSERT_EQUAL(wefti_observe_is_open(), 0);
	CU_ASSERT_EQUAL(wefti_observe_begin(), -ESRCH);
	wefti_observe_close();			/* nobody looks */
	wefti_observe_open();
	CU_ASSERT_EQUAL(wefti_observe_is_open(), 1);
	CU_ASSERT_EQUAL(wefti_observe_begin(), 0);
	CU_ASSERT_EQUAL(wefti_observe_begin(), 0);	/* any number */
	CU_ASSERT_EQUAL(wefti_observe_is_open(), 1);
	wefti_observe_end();
	wefti_observe_shut();
	CU_ASSERT_EQUAL(wefti_observe_is_open(), 0);
	CU_ASSERT_EQUAL(wefti_observe_begin(), -ESRCH);
	wefti_observe_end();
	wefti_observe_close();
	CU_ASSERT_EQUAL(wefti_observe_begin(), -ESRCH);
}

/* In the child of a fork they are not there: a close would wait for ever. */
static void those_who_are_forgotten_are_not_waited_for(void)
{
	wefti_observe_open();
	CU_ASSERT_EQUAL(wefti_observe_begin(), 0);
	CU_ASSERT_EQUAL(wefti_observe_begin(), 0);
	wefti_observe_forget();
	CU_ASSERT_EQUAL(wefti_observe_is_open(), 0);
	CU_ASSERT_EQUAL(wefti_observe_begin(), -ESRCH);
	wefti_observe_close();
	wefti_observe_open();
	CU_ASSERT_EQUAL(wefti_observe_begin(), 0);
	wefti_observe_end();
	wefti_observe_close();
}

static _Atomic int has_ended, is_closed;

static void *close_it(void *wrong)
{
	wefti_observe_close();
	*(int *)wrong += load_seq_cst(&has_ended) != 2;
	store_seq_cst(&is_closed, 1);
	return NULL;
}

/* By the last of two; the first one's end is not enough. */
static void close_returns_when_the_last_has_ended(void)
{
	int wrong = 0;

	for (size_t i = test_scaled(50); i > 0; i--) {
		pthread_t thread;

		store_seq_cst(&has_ended, 0);
		store_seq_cst(&is_closed, 0);
		wefti_observe_open();
		CU_ASSERT_EQUAL(wefti_observe_begin(), 0);
		CU_ASSERT_EQUAL(wefti_observe_begin(), 0);
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, close_it,
						     &wrong), 0);
		while (wefti_observe_is_open())
			sched_yield();
		CU_ASSERT_EQUAL(wefti_observe_begin(), -ESRCH);
		store_seq_cst(&has_ended, 1);
		wefti_observe_end();
		for (int k = 0; k < 20; k++) {	/* it may be wrong meanwhile */
			sched_yield();
			CU_ASSERT_EQUAL(load_seq_cst(&is_closed), 0);
		}
		store_seq_cst(&has_ended, 2);
		wefti_observe_end();
		pthread_join(thread, NULL);
		CU_ASSERT_EQUAL(wrong, 0);
	}
}

/* is_there is plain: only between open and close may others read it. */
static int is_there;
static size_t rounds;
static pthread_barrier_t turn;
static sem_t has_looked;

/* Looks until it is shut; says so once, at the latest then. */
static void *look(void *arg)
{
	size_t *wrong = arg;

	for (size_t i = 0; i < rounds; i++) {
		int has = 0;

		pthread_barrier_wait(&turn);
		while (wefti_observe_begin() == 0) {
			*wrong += is_there != 1;
			wefti_observe_end();
			if (!has)
				sem_post(&has_looked);
			has = 1;
		}
		if (!has)
			sem_post(&has_looked);
		pthread_barrier_wait(&turn);
	}
	return NULL;
}

static void what_is_looked_at_is_there(void)
{
	size_t wrong[CREW] = { 0 };
	pthread_t thread[CREW];

	rounds = test_scaled(20);
	sem_init(&has_looked, 0, 0);
	pthread_barrier_init(&turn, NULL, CREW + 1);
	for (int i = 0; i < CREW; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, look,
						     &wrong[i]), 0);
	for (size_t i = 0; i < rounds; i++) {
		is_there = 1;
		wefti_observe_open();
		pthread_barrier_wait(&turn);
		sem_wait(&has_looked);
		wefti_observe_close();
		is_there = 0;
		pthread_barrier_wait(&turn);
		for (int k = 1; k < CREW; k++)
			sem_wait(&has_looked);
	}
	for (int i = 0; i < CREW; i++) {
		pthread_join(thread[i], NULL);
		CU_ASSERT_EQUAL(wrong[i], 0);
	}
	pthread_barrier_destroy(&turn);
	sem_destroy(&has_looked);
}

static const struct test_case cases[] = {
	TEST(nobody_begins_unless_it_is_open),
	TEST(those_who_are_forgotten_are_not_waited_for),
	TEST(close_returns_when_the_last_has_ended),
	TEST(what_is_looked_at_is_there),
};

TEST_MAIN("observe/gate", cases)
