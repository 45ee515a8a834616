/* SPDX-License-Identifier: MIT */
/*
 * test_explore.c - sched/explore: a seed gives one order of threads, and some seeds give
 * orders in which a fault shows
 *
 * The library that this test links is compiled with WEFT_PERTURB, as in tests/stall. So each
 * atomic operation outside the runtime is a point.
 */
#include "threads.h"

#include <string.h>

#include "lockfree/atomic.h"

#define SEEDS	20
#define CREW	4
#define ROUNDS	8

static void explored_begin(unsigned seed)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", seed);
	CU_ASSERT_EQUAL_FATAL(setenv("WEFT_SCHED", "explore", 1), 0);
	CU_ASSERT_EQUAL_FATAL(setenv("WEFT_SEED", text, 1), 0);
	runtime_begin();
}

static void explored_end(void)
{
	runtime_end();
	unsetenv("WEFT_SCHED");
	unsetenv("WEFT_SEED");
}

/* One VCPU that no thread loses, as with the mode: it is the control. */
static void plain_begin(void)
{
	const struct weft_options alone = { .vcpus = 1, .slice_ns = -1 };

	setenv("WEFT_SCHED", "steal", 1);
	CU_ASSERT_EQUAL_FATAL(weft_start(&alone), 0);
}

static struct {
	struct weft_mutex mutex;
	struct weft_sem sem;
	_Atomic unsigned turns;
	unsigned char turn[CREW * ROUNDS];
	_Atomic unsigned count;
} shared;

static void *take_turns(void *number)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		must(weft_mutex_lock(&shared.mutex) == 0);
		must(weft_mutex_unlock(&shared.mutex) == 0);
		must(weft_sem_post(&shared.sem) == 0);
		shared.turn[fetch_add_relaxed(&shared.turns, 1u)] =
			(unsigned char)(uintptr_t)number;
		must(weft_sem_wait(&shared.sem) == 0);
	}
	return NULL;
}

static void run_crew(void *(*fn)(void *), unsigned flags)
{
	uint64_t id[CREW];

	memset(&shared, 0, sizeof(shared));
	for (uintptr_t i = 0; i < CREW; i++)
		id[i] = spawn_with(flags, fn, (void *)i);
	for (unsigned i = 0; i < CREW; i++)
		join(id[i]);
}

static void a_seed_gives_one_order(void)
{
	unsigned char first[CREW * ROUNDS], before[CREW * ROUNDS] = { 0 };
	unsigned different = 0;

	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		const unsigned flags = seed % 3 ? 0 : WEFT_LIGHT;

		explored_begin(seed);
		run_crew(take_turns, flags);
		memcpy(first, shared.turn, sizeof(first));
		explored_end();
		explored_begin(seed);
		run_crew(take_turns, flags);
		CU_ASSERT_EQUAL(memcmp(first, shared.turn, sizeof(first)), 0);
		explored_end();
		different += memcmp(first, before, sizeof(first)) != 0;
		memcpy(before, first, sizeof(first));
	}
	CU_ASSERT(different > SEEDS / 2);
}

/* Two operations in the place of one. */
static void *count_wrongly(void *unused)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		const unsigned before = load_relaxed(&shared.count);

		store_relaxed(&shared.count, before + 1);
	}
	return unused;
}

static unsigned lost_updates(void)
{
	run_crew(count_wrongly, 0);
	return load_relaxed(&shared.count) < CREW * ROUNDS;
}

static void a_lost_update_is_found(void)
{
	unsigned found = 0;

	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		explored_begin(seed);
		found += lost_updates();
		explored_end();
	}
	CU_ASSERT(found > 0);
	plain_begin();
	CU_ASSERT_EQUAL(lost_updates(), 0);
	runtime_end();
}

static struct weft_mutex forks[2];
static unsigned embraces;	/* each of two threads had one lock, and the other was held */

static void *take_both(void *number)
{
	const uintptr_t first = (uintptr_t)number % 2;

	must(weft_mutex_lock(&forks[first]) == 0);
	if (weft_mutex_try_lock(&forks[!first]) != 0)
		embraces++;
	else
		must(weft_mutex_unlock(&forks[!first]) == 0);
	must(weft_mutex_unlock(&forks[first]) == 0);
	return NULL;
}

static void locks_in_the_wrong_order_are_found(void)
{
	embraces = 0;
	plain_begin();
	run_crew(take_both, 0);
	CU_ASSERT_EQUAL(embraces, 0);
	runtime_end();
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		explored_begin(seed);
		run_crew(take_both, 0);
		explored_end();
	}
	CU_ASSERT(embraces > 0);
}

static int errno_is_kept;

static void *look_at_errno(void *unused)
{
	struct weft_sem sem;

	must(weft_sem_init(&sem, 0) == 0);
	for (int i = 1; i <= ROUNDS; i++) {
		errno = i;
		must(weft_sem_post(&sem) == 0);	/* never parks */
		errno_is_kept &= errno == i;
		fetch_add_relaxed(&shared.count, 1u);
	}
	return unused;
}

static void a_light_thread_keeps_its_errno_at_a_point(void)
{
	errno_is_kept = 1;
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		explored_begin(seed);
		run_crew(look_at_errno, WEFT_LIGHT);
		explored_end();
	}
	CU_ASSERT(errno_is_kept);
}

static void the_mode_has_one_vcpu(void)
{
	const struct weft_options many = { .vcpus = 4, .slice_ns = 1000000 };

	setenv("WEFT_SCHED", "explore", 1);
	CU_ASSERT_EQUAL_FATAL(weft_start(&many), 0);
	CU_ASSERT_EQUAL(weft_vcpus(), 1);
	explored_end();
}

static const struct test_case cases[] = {
	TEST(a_seed_gives_one_order),
	TEST(a_lost_update_is_found),
	TEST(locks_in_the_wrong_order_are_found),
	TEST(a_light_thread_keeps_its_errno_at_a_point),
	TEST(the_mode_has_one_vcpu),
};

TEST_MAIN("sched/explore", cases)
