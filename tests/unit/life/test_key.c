/* SPDX-License-Identifier: MIT */
/* test_key.c - life/key: values of a thread, destructors, keys made again */
#include "threads.h"

#include <pthread.h>

#include "lockfree/atomic.h"

static _Atomic size_t destroyed;
static unsigned again_key;

static void destroy(void *value)
{
	must(value != NULL);
	fetch_add_relaxed(&destroyed, 1);
}

/* Sets its own key again, for ever: it is called four times, not more. */
static void destroy_again(void *value)
{
	fetch_add_relaxed(&destroyed, 1);
	must(weft_key_set(again_key, value) == 0);
}

static void *use_key(void *arg)
{
	unsigned key = (unsigned)(uintptr_t)arg;

	must(weft_key_get(key) == NULL);
	must(weft_key_set(key, &key) == 0);
	for (int i = 0; i < 10; i++) {
		weft_yield();	/* maybe to another VCPU */
		must(weft_key_get(key) == &key);
	}
	return NULL;
}

static void each_thread_has_its_value_and_it_is_destroyed(void)
{
	uint64_t id[100];
	unsigned key;

	runtime_begin();
	store_relaxed(&destroyed, 0);
	CU_ASSERT_EQUAL_FATAL(weft_key_create(&key, destroy), 0);
	for (int i = 0; i < 100; i++)
		id[i] = spawn_with((unsigned)i & WEFT_LIGHT, use_key,
				   (void *)(uintptr_t)key);
	for (int i = 0; i < 100; i++)
		join(id[i]);
	CU_ASSERT_EQUAL(load_relaxed(&destroyed), 100);
	CU_ASSERT_EQUAL(weft_key_delete(key), 0);
	runtime_end();
}

static void *use_again(void *arg)
{
	must(weft_key_set(again_key, arg) == 0);
	return NULL;
}

static void destructors_run_four_rounds(void)
{
	int x;

	runtime_begin();
	store_relaxed(&destroyed, 0);
	CU_ASSERT_EQUAL_FATAL(weft_key_create(&again_key, destroy_again), 0);
	join(spawn(use_again, &x));
	CU_ASSERT_EQUAL(load_relaxed(&destroyed), 4);
	CU_ASSERT_EQUAL(weft_key_delete(again_key), 0);
	runtime_end();
}

static void a_key_made_again_shows_nothing_of_the_one_before(void)
{
	unsigned key, second;
	int x;

	runtime_begin();
	CU_ASSERT_EQUAL_FATAL(weft_key_create(&key, NULL), 0);
	CU_ASSERT_EQUAL(weft_key_set(key, &x), 0);
	CU_ASSERT_PTR_EQUAL(weft_key_get(key), &x);
	CU_ASSERT_EQUAL(weft_key_delete(key), 0);
	CU_ASSERT_PTR_NULL(weft_key_get(key));
	CU_ASSERT_EQUAL(weft_key_set(key, &x), -EINVAL);
	CU_ASSERT_EQUAL(weft_key_delete(key), -EINVAL);
	CU_ASSERT_EQUAL_FATAL(weft_key_create(&second, NULL), 0);
	CU_ASSERT_EQUAL(second, key);
	CU_ASSERT_PTR_NULL(weft_key_get(second));
	CU_ASSERT_EQUAL(weft_key_delete(second), 0);
	runtime_end();
}

static void there_are_as_many_keys_as_promised(void)
{
	unsigned key[WEFT_KEYS_MAX], more = 12345;

	for (int i = 0; i < WEFT_KEYS_MAX; i++)
		CU_ASSERT_EQUAL_FATAL(weft_key_create(&key[i], NULL), 0);
	CU_ASSERT_EQUAL(weft_key_create(&more, NULL), -EAGAIN);
	CU_ASSERT_EQUAL(more, 12345);
	for (int i = 0; i < WEFT_KEYS_MAX; i++)
		CU_ASSERT_EQUAL(weft_key_delete(key[i]), 0);
	CU_ASSERT_EQUAL(weft_key_delete(WEFT_KEYS_MAX), -EINVAL);
	CU_ASSERT_EQUAL(weft_key_set(WEFT_KEYS_MAX, &more), -EINVAL);
	CU_ASSERT_PTR_NULL(weft_key_get(WEFT_KEYS_MAX));
}

static void *foreign(void *arg)
{
	use_key(arg);
	return NULL;
}

static void a_foreign_threads_value_is_destroyed_with_it(void)
{
	pthread_t thread;
	unsigned key;

	store_relaxed(&destroyed, 0);
	CU_ASSERT_EQUAL_FATAL(weft_key_create(&key, destroy), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, foreign,
					     (void *)(uintptr_t)key), 0);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(load_relaxed(&destroyed), 1);
	CU_ASSERT_EQUAL(weft_key_delete(key), 0);
}

static const struct test_case cases[] = {
	TEST(each_thread_has_its_value_and_it_is_destroyed),
	TEST(destructors_run_four_rounds),
	TEST(a_key_made_again_shows_nothing_of_the_one_before),
	TEST(there_are_as_many_keys_as_promised),
	TEST(a_foreign_threads_value_is_destroyed_with_it),
};

TEST_MAIN("life/key", cases)
