/* SPDX-License-Identifier: MIT */
/*
 * test_quiescent.c - os/quiescent: which kernel threads a grace period waits
 * for
 */
#include "os/kthread/quiescent.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "forked.h"
#include "lockfree/atomic.h"
#include "os/kthread/kthread.h"

static void wait_for(_Atomic uint32_t *word, uint32_t value)
{
	while (load_seq_cst(word) < value)
		wefti_os_yield();
}

static void nobody_registered_is_nobody_to_wait_for(void)
{
	void *reader = NULL;

	CU_ASSERT_EQUAL(wefti_os_quiescent_wait(), 0);
	wefti_os_quiescent_register(&reader);
	CU_ASSERT_PTR_NOT_NULL(reader);
	wefti_os_quiescent_unregister(&reader);
	CU_ASSERT_PTR_NULL(reader);
	CU_ASSERT_EQUAL(wefti_os_quiescent_wait(), 0);
}

/* --- one reader, that is told step by step what to do */

enum step {
	REGISTERED, QUIESCENT, READS, OFFLINE, STAYS_OFFLINE, ONLINE,
	UNREGISTERED
};

static _Atomic uint32_t told, done, has_waited;
static void *reader_record;

static void *obey(void *unused)
{
	for (uint32_t i = 0; i <= UNREGISTERED; i++) {
		wait_for(&told, i + 1);
		switch ((enum step)i) {
		case REGISTERED:
			wefti_os_quiescent_register(&reader_record);
			break;
		case QUIESCENT:
			/* More than once: it may not have begun before. */
			while (!load_seq_cst(&has_waited))
				wefti_os_quiescent();
			break;
		case OFFLINE:
			wefti_os_quiescent_offline();
			break;
		case ONLINE:
			wefti_os_quiescent_online();
			break;
		case UNREGISTERED:
			wefti_os_quiescent_unregister(&reader_record);
			break;
		case READS:
		case STAYS_OFFLINE:
			break;
		}
		store_seq_cst(&done, i + 1);
	}
	return unused;
}

static void tell(enum step step)
{
	store_seq_cst(&told, (uint32_t)step + 1);
}

static void tell_and_wait(enum step step)
{
	tell(step);
	wait_for(&done, (uint32_t)step + 1);
}

static void reader_begins(pthread_t *reader)
{
	store_seq_cst(&told, 0);
	store_seq_cst(&done, 0);
	reader_record = NULL;
	CU_ASSERT_EQUAL_FATAL(pthread_create(reader, NULL, obey, NULL), 0);
	tell_and_wait(REGISTERED);
}

static _Atomic int wait_result;

static void *wait_there(void *unused)
{
	store_seq_cst(&wait_result, wefti_os_quiescent_wait());
	store_seq_cst(&has_waited, 1);
	return unused;
}

/*
 * A grace period that begins while it reads ends only after the step that lets
 * it: at no moment before have we seen it end. (One that ends too early may be
 * missed. One that waits for nobody is found in most rounds.)
 */
static void ends_after(enum step step)
{
	pthread_t waiter;

	store_seq_cst(&has_waited, 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&waiter, NULL, wait_there, NULL),
			      0);
	for (int i = 0; i < 100; i++) {
		CU_ASSERT_EQUAL(load_seq_cst(&has_waited), 0);
		wefti_os_yield();
	}
	tell(step);
	pthread_join(waiter, NULL);
	wait_for(&done, (uint32_t)step + 1);
	CU_ASSERT_EQUAL(load_seq_cst(&wait_result), 0);
}

static void a_reader_is_waited_for_until_it_lets_go(void)
{
	pthread_t reader;

	reader_begins(&reader);
	CU_ASSERT_PTR_NOT_NULL(reader_record);
	ends_after(QUIESCENT);
	tell_and_wait(READS);
	ends_after(OFFLINE);
	/* Nobody has to be told anything. */
	CU_ASSERT_EQUAL(wefti_os_quiescent_wait(), 0);
	tell_and_wait(STAYS_OFFLINE);
	CU_ASSERT_EQUAL(wefti_os_quiescent_wait(), 0);
	tell_and_wait(ONLINE);
	ends_after(UNREGISTERED);
	pthread_join(reader, NULL);
	CU_ASSERT_PTR_NULL(reader_record);
	CU_ASSERT_EQUAL(wefti_os_quiescent_wait(), 0);
}

/* --- what it is for: nothing is freed under a reader */

#define READERS	3
#define ALIVE	0x600du
#define DEAD	0xdeadu

struct record {
	_Atomic uint32_t state;
};

static struct record records[2];
static _Atomic(struct record *) current;
static _Atomic uint32_t is_over;
static _Atomic size_t wrong;

static void *read_on(void *n)
{
	uint64_t random = test_seed((uint64_t)(uintptr_t)n);
	void *reader = NULL;

	wefti_os_quiescent_register(&reader);
	while (!load_seq_cst(&is_over)) {
		struct record *r = load_seq_cst(&current);

		if (test_random_below(&random, 16) == 0)
			wefti_os_yield();
		if (load_seq_cst(&r->state) != ALIVE)
			fetch_add_seq_cst(&wrong, 1);
		switch (test_random_below(&random, 3)) {
		case 0:
			wefti_os_quiescent();
			break;
		case 1:
			wefti_os_quiescent_offline();
			wefti_os_quiescent_online();
			break;
		}
	}
	wefti_os_quiescent_unregister(&reader);
	return reader;
}

static void what_is_replaced_lives_until_all_were_quiescent(void)
{
	size_t rounds = test_scaled(300);
	pthread_t crew[READERS];

	store_seq_cst(&is_over, 0);
	store_seq_cst(&records[0].state, ALIVE);
	store_seq_cst(&current, &records[0]);
	for (uintptr_t i = 0; i < READERS; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&crew[i], NULL, read_on,
						     (void *)i), 0);
	for (size_t i = 0; i < rounds; i++) {
		struct record *old = &records[i % 2];

		store_seq_cst(&records[(i + 1) % 2].state, ALIVE);
		store_seq_cst(&current, &records[(i + 1) % 2]);
		CU_ASSERT_EQUAL(wefti_os_quiescent_wait(), 0);
		store_seq_cst(&old->state, DEAD);
	}
	store_seq_cst(&is_over, 1);
	for (int i = 0; i < READERS; i++)
		pthread_join(crew[i], NULL);
	CU_ASSERT_EQUAL(load_seq_cst(&wrong), 0);
}

/* --- forks */

static void forget_the_reader(void)
{
	void *mine = NULL;

	wefti_os_quiescent_after_fork();
	/* Its kernel thread is not here: this would wait for ever. */
	wefti_os_quiescent_forget(reader_record);
	must(wefti_os_quiescent_wait() == 0);
	wefti_os_quiescent_forget(reader_record);	/* it is not in the list */
	/* Its memory is somebody else's now, and may have anything in it. */
	memset(reader_record, 0x11, 32);
	wefti_os_quiescent_register(&mine);
	must(mine != NULL && mine != reader_record);
	wefti_os_quiescent();
	wefti_os_quiescent_offline();
	must(wefti_os_quiescent_wait() == 0);
	wefti_os_quiescent_online();
	wefti_os_quiescent_unregister(&mine);
	must(mine == NULL);
	must(wefti_os_quiescent_wait() == 0);
}

static void a_child_forgets_readers_that_are_not_there(void)
{
	pthread_t reader;

	reader_begins(&reader);
	child_is_well(forget_the_reader);
	/* In the parent it is there as before. */
	ends_after(QUIESCENT);
	tell(UNREGISTERED);
	pthread_join(reader, NULL);
}

/* 7: somebody was at work in liburcu, and the child does without. */
static void do_without(void)
{
	void *mine = NULL;

	wefti_os_quiescent_after_fork();
	wefti_os_quiescent_forget(reader_record);
	if (wefti_os_quiescent_wait() == 0)
		return;
	must(wefti_os_quiescent_wait() == -ENOTSUP);
	wefti_os_quiescent_register(&mine);
	must(mine == NULL);
	wefti_os_quiescent();
	wefti_os_quiescent_offline();
	wefti_os_quiescent_online();
	mine = &mine;
	wefti_os_quiescent_unregister(&mine);
	must(mine == &mine);
	_exit(7);
}

/* It is at work from some moment on, until the reader lets it. */
static void a_child_does_without_where_another_was_at_work(void)
{
	pthread_t reader, waiter;
	int status = 0;

	reader_begins(&reader);
	store_seq_cst(&has_waited, 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&waiter, NULL, wait_there, NULL),
			      0);
	while (status == 0)
		status = in_child(do_without);
	CU_ASSERT_TRUE(WIFEXITED(status));
	CU_ASSERT_EQUAL(WEXITSTATUS(status), 7);
	CU_ASSERT_STRING_EQUAL(said, "");
	tell(UNREGISTERED);
	pthread_join(waiter, NULL);
	pthread_join(reader, NULL);
	CU_ASSERT_EQUAL(load_seq_cst(&wait_result), 0);
	CU_ASSERT_EQUAL(wefti_os_quiescent_wait(), 0);
}

static const struct test_case cases[] = {
	TEST(nobody_registered_is_nobody_to_wait_for),
	TEST(a_reader_is_waited_for_until_it_lets_go),
	TEST(what_is_replaced_lives_until_all_were_quiescent),
	TEST(a_child_forgets_readers_that_are_not_there),
	TEST(a_child_does_without_where_another_was_at_work),
};

TEST_MAIN("os/quiescent", cases)
