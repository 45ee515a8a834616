/* SPDX-License-Identifier: MIT */
/* test_pool.c - life/pool: many threads at once, and what they leave */
#include "holdings.h"
#include "threads.h"

#include "lockfree/atomic.h"

#define AT_ONCE		50000		/* a million at scale 20 */
#define MOST		1000000

static void *park(void *arg)
{
	fetch_add_relaxed((_Atomic size_t *)arg, 1);
	return (void *)(intptr_t)weft_sleep_until(WEFT_FOREVER);
}

static void park_many(unsigned flags)
{
	size_t scaled = test_scaled(AT_ONCE);
	size_t count = test_threads(scaled < MOST ? scaled : MOST);
	const struct weft_attr attr = { .stack_bytes = 16384, .flags = flags };
	uint64_t *id = calloc(count, sizeof(*id));
	_Atomic size_t begun = 0;
	struct holdings now;

	CU_ASSERT_PTR_NOT_NULL_FATAL(id);
	runtime_begin();
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_EQUAL_FATAL(weft_spawn(&id[i], &attr, park, &begun),
				      0);
	while (load_relaxed(&begun) < count)
		rest();
	now = holdings();
	printf("    %zu threads, %zu mappings, %zu kernel threads\n", count,
	       now.maps, now.kernel_threads);
	/*
	 * Kernel threads have some each, most with AddressSanitizer, and a loaded
	 * machine gets more of them. ThreadSanitizer maps shadow for each thread.
	 */
	CU_ASSERT_TRUE(now.maps < 200 + 8 * now.kernel_threads ||
		       test_threads(10000) < 10000);
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_EQUAL_FATAL(weft_cancel(id[i]), 0);
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_EQUAL_FATAL((intptr_t)join(id[i]), -ECANCELED);
	runtime_end();
	free(id);
}

static void very_many_light_threads_are_parked_at_once(void)
{
	park_many(WEFT_LIGHT);
}

static void very_many_threads_with_tls_are_parked_at_once(void)
{
	park_many(0);
}

static const struct test_case cases[] = {
	TEST(very_many_light_threads_are_parked_at_once),
	TEST(very_many_threads_with_tls_are_parked_at_once),
};

TEST_MAIN("life/pool", cases)
