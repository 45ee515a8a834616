/* SPDX-License-Identifier: MIT */
/* test_idle.c - sched/idle: an idle program uses no CPU, and no wake is lost */
#include "threads.h"

#include <pthread.h>

#include "lockfree/atomic.h"
#include "ticks.h"

#define PARKED	test_threads(10000)

static void *park(void *arg)
{
	fetch_add_relaxed((_Atomic size_t *)arg, 1);
	return (void *)(intptr_t)weft_sleep_until(WEFT_FOREVER);
}

static void an_idle_program_uses_no_cpu(void)
{
	size_t seconds = test_scaled(2) > 5 ? 5 : test_scaled(2);
	uint64_t *id = calloc(PARKED, sizeof(*id));
	_Atomic size_t begun = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(id);
	runtime_begin();
	for (size_t i = 0; i < PARKED; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, park, &begun);
	while (load_relaxed(&begun) < PARKED)
		rest();
	CU_ASSERT_TRUE(ticks_of_idling(seconds) <= 1);
	for (size_t i = 0; i < PARKED; i++)
		CU_ASSERT_EQUAL_FATAL(weft_cancel(id[i]), 0);
	for (size_t i = 0; i < PARKED; i++)
		CU_ASSERT_EQUAL((intptr_t)join(id[i]), -ECANCELED);
	runtime_end();
	free(id);
}

static void *end_at_once(void *arg)
{
	return arg;
}

/* Every VCPU idles again and again just when a thread is injected. */
static void *inject_and_wait(void *arg)
{
	uint64_t random = test_seed((uint64_t)(uintptr_t)arg);
	size_t rounds = test_scaled(3000);

	for (size_t i = 0; i < rounds; i++) {
		volatile uint64_t spin = test_random_below(&random, 3000);

		must(join(spawn_with(i % 2 ? WEFT_LIGHT : 0, end_at_once,
				     arg)) == arg);
		while (spin > 0)
			spin--;
	}
	return NULL;
}

static void no_wake_from_foreign_threads_is_lost(void)
{
	pthread_t thread[2];

	runtime_begin();
	for (uintptr_t i = 0; i < 2; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL,
					inject_and_wait, (void *)i), 0);
	weft_block_begin();
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	weft_block_end();
	runtime_end();
}

struct volley {
	struct weft_mutex mutex;
	_Atomic size_t hits;
	size_t most;
};

static void *hit(void *arg)
{
	struct volley *v = arg;

	for (size_t i = 0; i < v->most; i++) {
		must(weft_mutex_lock(&v->mutex) == 0);
		fetch_add_relaxed(&v->hits, 1);
		must(weft_mutex_unlock(&v->mutex) == 0);
		if (i % 16 == 0)
			rest();	/* all idle, now and then */
	}
	return NULL;
}

static void no_wake_among_vcpus_is_lost(void)
{
	struct volley v = {
		.mutex = WEFT_MUTEX_STRICT_INIT, .most = test_scaled(4000),
	};
	uint64_t id[4];

	runtime_begin();
	for (int i = 0; i < 4; i++)
		id[i] = spawn(hit, &v);
	for (int i = 0; i < 4; i++)
		join(id[i]);
	CU_ASSERT_EQUAL(load_relaxed(&v.hits), 4 * v.most);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(an_idle_program_uses_no_cpu),
	TEST(no_wake_from_foreign_threads_is_lost),
	TEST(no_wake_among_vcpus_is_lost),
};

TEST_MAIN("sched/idle", cases)
