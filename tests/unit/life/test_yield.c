/* SPDX-License-Identifier: MIT */
/*
 * test_yield.c - life/yield: yields, names, sleep, the own id; also before the
 * start
 */
#include "threads.h"

#include <pthread.h>
#include <string.h>

#include "lockfree/atomic.h"
#include "weft/io.h"

static void *sleep_and_look(void *arg)
{
	uint64_t random = test_seed((uint64_t)(uintptr_t)arg);

	for (int i = 0; i < 20; i++) {
		int64_t ns = (int64_t)test_random_below(&random, 300000);
		int64_t began = weft_clock();

		must(weft_sleep(ns) == 0);
		must(weft_clock() - began >= ns);
	}
	return NULL;
}

static void no_sleep_ends_early(void)
{
	uint64_t id[50];

	runtime_begin();
	for (uintptr_t i = 0; i < 50; i++)
		id[i] = spawn_with((unsigned)i & WEFT_LIGHT, sleep_and_look,
				   (void *)i);
	for (int i = 0; i < 50; i++)
		join(id[i]);
	runtime_end();
}

static void a_sleep_of_no_time_is_a_yield(void)
{
	runtime_begin();
	CU_ASSERT_EQUAL(weft_sleep(0), 0);
	CU_ASSERT_EQUAL(weft_sleep(-1), 0);
	CU_ASSERT_EQUAL(weft_sleep(INT64_MIN), 0);
	CU_ASSERT_EQUAL(weft_sleep_until(0), 0);
	CU_ASSERT_EQUAL(weft_sleep_until(-5), 0);
	weft_yield();
	runtime_end();
}

/* Constants: they stand in the initialisers of static objects. */
static const int64_t constants[] = {
	WEFT_MS(100), WEFT_MS(-1), WEFT_SECONDS(5), WEFT_SECONDS(INT64_MAX),
	WEFT_SECONDS(INT64_MIN), WEFT_MS(INT64_MAX / 1000000 + 1),
};

static int64_t counted(int64_t value, int *count)
{
	++*count;
	return value;
}

static void times_are_products_that_do_not_overflow(void)
{
	int64_t edge = INT64_MAX / 1000000;
	int count = 0;

	CU_ASSERT_EQUAL(constants[0], 100000000);
	CU_ASSERT_EQUAL(constants[1], -1000000);
	CU_ASSERT_EQUAL(constants[2], INT64_C(5000000000));
	CU_ASSERT_EQUAL(constants[3], INT64_MAX);
	CU_ASSERT_EQUAL(constants[4], INT64_MIN);
	CU_ASSERT_EQUAL(constants[5], INT64_MAX);
	CU_ASSERT_EQUAL(WEFT_MS(counted(edge, &count)), edge * 1000000);
	CU_ASSERT_EQUAL(WEFT_MS(counted(edge + 1, &count)), INT64_MAX);
	CU_ASSERT_EQUAL(WEFT_MS(counted(-edge, &count)), -edge * 1000000);
	CU_ASSERT_EQUAL(WEFT_MS(counted(-edge - 1, &count)), INT64_MIN);
	CU_ASSERT_EQUAL(WEFT_SECONDS(counted(3, &count)), INT64_C(3000000000));
	CU_ASSERT_EQUAL(count, 5);
}

static void a_deadline_is_from_now_and_does_not_overflow(void)
{
	int64_t before = weft_clock(), made = weft_deadline(WEFT_MS(20));

	CU_ASSERT(made >= before + WEFT_MS(20));
	CU_ASSERT(made <= weft_clock() + WEFT_MS(20));
	CU_ASSERT_EQUAL(weft_deadline(WEFT_FOREVER), WEFT_FOREVER);
	CU_ASSERT_EQUAL(weft_deadline(WEFT_FOREVER - 1), WEFT_FOREVER);
	CU_ASSERT(weft_deadline(0) <= weft_clock());
	CU_ASSERT(weft_deadline(0) != WEFT_NO_WAIT);
	CU_ASSERT(weft_deadline(INT64_MIN) >= before);
	CU_ASSERT(weft_deadline(INT64_MIN) <= weft_clock());
}

static void *parked(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)weft_sleep_until(WEFT_FOREVER);
}

static void a_name_can_be_given_taken_and_cut(void)
{
	char name[WEFT_NAME_MAX], little[4];
	uint64_t id;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_set_name(weft_self(), "first"), 0);
	CU_ASSERT_EQUAL(weft_name(weft_self(), name, sizeof(name)), 0);
	CU_ASSERT_STRING_EQUAL(name, "first");
	id = spawn(parked, NULL);
	CU_ASSERT_EQUAL(weft_set_name(id, "0123456789012345678901234567890123"),
			0);
	CU_ASSERT_EQUAL(weft_name(id, name, sizeof(name)), 0);
	CU_ASSERT_STRING_EQUAL(name, "0123456789012345678901234567890");
	CU_ASSERT_EQUAL(weft_name(id, little, sizeof(little)), 0);
	CU_ASSERT_STRING_EQUAL(little, "012");
	CU_ASSERT_EQUAL(weft_name(id, little, 0), -EINVAL);
	CU_ASSERT_EQUAL(weft_set_name(id, NULL), 0);
	CU_ASSERT_EQUAL(weft_name(id, name, sizeof(name)), 0);
	CU_ASSERT_STRING_EQUAL(name, "");
	CU_ASSERT_EQUAL(weft_cancel(id), 0);
	CU_ASSERT_EQUAL((intptr_t)join(id), -ECANCELED);
	CU_ASSERT_EQUAL(weft_name(id, name, sizeof(name)), -ESRCH);
	CU_ASSERT_EQUAL(weft_set_name(id, "x"), -ESRCH);
	CU_ASSERT_EQUAL(weft_name(0, name, sizeof(name)), -ESRCH);
	runtime_end();
}

/* All that a kernel thread can call while the runtime does not run. */
static void *call_without_runtime(void *arg)
{
	struct weft_mutex mutex = WEFT_MUTEX_INIT;
	int64_t began = weft_clock();

	(void)arg;
	weft_yield();
	must(weft_sleep(2000000) == 0);
	must(weft_clock() - began >= 2000000);
	must(weft_self() != 0);
	must(weft_join(weft_self(), NULL) != 0);
	must(weft_is_cancelled() == 0);
	must(weft_mutex_lock(&mutex) == 0);
	must(weft_mutex_try_lock(&mutex) == -EBUSY);
	must(weft_mutex_unlock(&mutex) == 0);
	weft_block_begin();
	weft_block_end();
	weft_cancel_hold();
	weft_cancel_release();
	must(weft_stop() == -ESRCH);
	must(weft_vcpus() == 0);
	return NULL;
}

static void calls_work_before_the_start_and_after_the_stop(void)
{
	pthread_t thread;

	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL,
						call_without_runtime, NULL), 0);
		pthread_join(thread, NULL);
		call_without_runtime(NULL);
		runtime_begin();
		runtime_end();
	}
}

static void *foreign_id(void *arg)
{
	uint64_t *id = arg;

	*id = weft_self();
	must(*id == weft_self());
	must(weft_cancel(*id) == 0);
	must(weft_is_cancelled() == 1);
	must(weft_sleep(1000000000) == -ECANCELED);
	return NULL;
}

/* A struct is used again by the next kernel thread, an id is not. */
static void a_foreign_thread_ends_and_its_struct_is_recycled(void)
{
	uint64_t id = 0, last = 0;
	unsigned reused = 0;

	runtime_begin();
	for (int i = 0; i < 100; i++) {
		pthread_t thread;

		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, foreign_id,
						     &id), 0);
		weft_block_begin();
		pthread_join(thread, NULL);
		weft_block_end();
		CU_ASSERT_NOT_EQUAL(id, last);
		CU_ASSERT_EQUAL(weft_cancel(id), -ESRCH);
		reused += (uint32_t)id == (uint32_t)last;
		last = id;
	}
	CU_ASSERT_TRUE(reused > 50);
	runtime_end();
}

static int to[2];		/* a pipe */
static _Atomic unsigned answered;

static void *answer(void *arg)
{
	char c;

	while (weft_read(to[0], &c, 1) == 1)
		fetch_add_seq_cst(&answered, 1u);
	return arg;
}

/* A loop of yields that waits for a thread that waits for a descriptor. */
static unsigned yields_until(unsigned count)
{
	unsigned n = 0;

	for (; load_seq_cst(&answered) != count; n++)
		weft_yield();
	return n;
}

#define ENOUGH	1000	/* the monitor's look comes after some 100,000 */

/*
 * Without a switch nothing else would look at descriptors. Other VCPUs idle, and one
 * sleeps for those: how long it takes to wake up is the kernel's to say.
 */
static void yields_that_find_nobody_look_at_descriptors(void)
{
	const unsigned rounds = (unsigned)test_scaled(500);
	unsigned late = 0;
	uint64_t id;

	runtime_begin();
	store_seq_cst(&answered, 0u);
	CU_ASSERT_EQUAL_FATAL(weft_pipe(to, 0), 0);
	id = spawn(answer, NULL);
	weft_yield();
	for (unsigned i = 0; i < rounds; i++) {
		must(weft_write(to[1], "x", 1) == 1);
		late += yields_until(i + 1) > ENOUGH;
	}
	if (weft_vcpus() == 1)
		CU_ASSERT_TRUE(late <= rounds / 10 + 1);
	CU_ASSERT_EQUAL(weft_close(to[1]), 0);
	join(id);
	CU_ASSERT_EQUAL(weft_close(to[0]), 0);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(no_sleep_ends_early),
	TEST(a_sleep_of_no_time_is_a_yield),
	TEST(times_are_products_that_do_not_overflow),
	TEST(a_deadline_is_from_now_and_does_not_overflow),
	TEST(yields_that_find_nobody_look_at_descriptors),
	TEST(a_name_can_be_given_taken_and_cut),
	TEST(calls_work_before_the_start_and_after_the_stop),
	TEST(a_foreign_thread_ends_and_its_struct_is_recycled),
};

TEST_MAIN("life/yield", cases)
