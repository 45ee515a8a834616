/* SPDX-License-Identifier: MIT */
/* test_pool.c - life/pool: many threads at once, and what they leave */
#include "holdings.h"
#include "threads.h"

#include "cpu.h"
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

static _Atomic size_t apart;

/* Not deep: what a switch touches is on one page. */
static void *look_where(void *all)
{
	uintptr_t word = wefti_arch_tp_get() + wefti_self_offset();
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	if (word / 4096 != frame / 4096)
		fetch_add_relaxed(&apart, 1);
	must(weft_sem_wait(all) == 0);
	return NULL;
}

static void a_thread_s_word_is_near_its_frames(void)
{
	struct weft_sem all = WEFT_SEM_INIT;
	uint64_t id[40];		/* of each colour */

	runtime_begin();
	for (int i = 0; i < 40; i++)
		id[i] = spawn(look_where, &all);
	for (int i = 0; i < 40; i++)
		CU_ASSERT_EQUAL_FATAL(weft_sem_post(&all), 0);
	for (int i = 0; i < 40; i++)
		join(id[i]);
	CU_ASSERT_TRUE(load_relaxed(&apart) == 0 || !wefti_rt.own_tls);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(a_thread_s_word_is_near_its_frames),
	TEST(very_many_light_threads_are_parked_at_once),
	TEST(very_many_threads_with_tls_are_parked_at_once),
};

TEST_MAIN("life/pool", cases)
