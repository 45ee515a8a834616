/* SPDX-License-Identifier: MIT */
/* test_timer_wheel.c - sched/timer_wheel: the earliest of all timers is the root, always */
#include "sched/timer_wheel.h"

#include "support.h"

#define TIMERS	3000u

static struct wefti_timers home;
static struct wefti_timer timer[TIMERS];
static uint32_t in[TIMERS], in_count;	/* those that are in it */
static uint32_t place[TIMERS];

static uint64_t state;

static uint64_t draw_bits(void)
{
	return test_random(&state);
}

static void begin(void)
{
	if (!state)
		state = test_seed(0);
	wefti_timers_init(&home);
	in_count = 0;
	for (uint32_t i = 0; i < TIMERS; i++) {
		timer[i] = (struct wefti_timer){ .home = NULL };
		store_relaxed(&timer[i].key, INT64_MAX);
	}
}

static int64_t key_of(uint32_t i)
{
	return load_relaxed(&timer[i].key);
}

static void add(uint32_t i, int64_t key)
{
	store_relaxed(&timer[i].key, key);
	wefti_timers_add(&home, &timer[i]);
	place[i] = in_count;
	in[in_count++] = i;
}

static void take(uint32_t i)
{
	wefti_timers_remove(&home, &timer[i]);
	store_relaxed(&timer[i].key, INT64_MAX);
	in[place[i]] = in[--in_count];
	place[in[place[i]]] = place[i];
}

static int64_t least(void)
{
	int64_t key = INT64_MAX;

	for (uint32_t i = 0; i < in_count; i++)
		if (key_of(in[i]) < key)
			key = key_of(in[i]);
	return key;
}

static void check_root(void)
{
	CU_ASSERT_EQUAL(home.root != NULL, in_count != 0);
	if (home.root)
		CU_ASSERT_EQUAL(load_relaxed(&home.root->key), least());
}

/* From some nanoseconds to a century, from `now` on; now and then in the past. */
static int64_t draw(int64_t now)
{
	const unsigned bits = (unsigned)(draw_bits() % 62);
	const int64_t ahead = (int64_t)(draw_bits() & ((UINT64_C(1) << bits) - 1));

	if (draw_bits() % 16 == 0)
		return now - ahead % 1000000000;
	return ahead < INT64_MAX - now ? now + ahead : INT64_MAX - 1;
}

static void take_what_is_due(int64_t now)
{
	int64_t last = INT64_MIN;

	while (home.root && load_relaxed(&home.root->key) <= now) {
		const uint32_t i = (uint32_t)(home.root - timer);

		CU_ASSERT_TRUE(key_of(i) >= last);
		last = key_of(i);
		take(i);
	}
	CU_ASSERT_TRUE(least() > now);
}

static void the_root_is_the_earliest_whatever_comes_and_goes(void)
{
	for (int round = 0; round < (int)test_scaled(30); round++) {
		int64_t now = wefti_os_now_ns();

		begin();
		for (int step = 0; step < 3000; step++) {
			const uint32_t i = (uint32_t)draw_bits() % TIMERS;

			if (key_of(i) == INT64_MAX)
				add(i, draw(now));
			else
				take(i);
			if (step % 64 == 0) {
				now += (int64_t)(draw_bits() &
					((UINT64_C(1) << draw_bits() % 40) - 1));
				take_what_is_due(now);
			}
			if (step % 16 == 0)
				check_root();
		}
		take_what_is_due(INT64_MAX - 1);
		CU_ASSERT_EQUAL(in_count, 0);
		CU_ASSERT_PTR_NULL(home.root);
		CU_ASSERT_EQUAL(home.wheel.next, WEFTI_WHEEL_NONE);
	}
}

static void ones_that_are_due_together_leave_in_order(void)
{
	const int64_t now = wefti_os_now_ns();

	begin();
	for (uint32_t i = 0; i < TIMERS; i++)
		add(i, now + 1 + (int64_t)(i * 1013u % TIMERS) * 1000000);
	CU_ASSERT_TRUE(home.wheel.next != WEFTI_WHEEL_NONE);
	for (uint32_t i = 0; i < TIMERS; i++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(home.root);
		CU_ASSERT_EQUAL(load_relaxed(&home.root->key), now + 1 + (int64_t)i * 1000000);
		take((uint32_t)(home.root - timer));
	}
	CU_ASSERT_PTR_NULL(home.root);
}

/* Each slot around the ends of lists and of levels. */
static void ends_of_levels_are_no_ends(void)
{
	const int64_t now = wefti_os_now_ns();
	uint64_t slot = wefti_wheel_slot(now) + 2;

	for (unsigned l = 0; l < 5; l++) {
		const uint64_t width = UINT64_C(1) << l * WEFTI_WHEEL_BITS;
		uint32_t n = 0;

		begin();
		add(n++, now);		/* what follows goes into the wheel */
		for (uint64_t at = slot | (width - 1); n < 600; at += width)
			for (uint64_t k = 0; k < 3; k++)
				add(n++, (int64_t)((at + k) << WEFTI_WHEEL_SHIFT));
		while (in_count) {
			check_root();
			take((uint32_t)(home.root - timer));
		}
		CU_ASSERT_EQUAL(home.wheel.next, WEFTI_WHEEL_NONE);
	}
}

static uint32_t in_heap(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < in_count; i++)
		count += !wefti_wheel_has(&timer[in[i]]);
	return count;
}

#define SECOND	INT64_C(1000000000)

/*
 * A short sleep ends while only `far` later ones are left. So the wheel's time goes to the
 * first of these, a minute ahead. Then many sleep for up to a second.
 */
static void jump_ahead(uint32_t far)
{
	const int64_t now = wefti_os_now_ns();
	uint32_t n = 0;

	begin();
	add(n++, now + SECOND / 100);
	for (uint32_t i = 0; i < far; i++)
		add(n++, now + 60 * SECOND + (int64_t)i * SECOND);
	take(0);
	CU_ASSERT_TRUE(home.wheel.now > wefti_wheel_slot(now + 50 * SECOND));
	while (n < TIMERS) {
		add(n, now + SECOND + (int64_t)(n * 1013u % TIMERS) * 1000000);
		n++;
	}
}

/* The heap takes as many as the wheel holds, and the list that is due first. */
static void a_wheel_that_has_jumped_ahead_comes_back(void)
{
	for (uint32_t far = 2; far <= 1024; far *= 8) {
		jump_ahead(far);
		printf("    %u far: %u of %u in the heap\n", far, in_heap(), TIMERS);
		CU_ASSERT_TRUE(in_heap() < far + 100);
		for (uint32_t due = in_count; due; due--) {
			check_root();
			take((uint32_t)(home.root - timer));
		}
		CU_ASSERT_EQUAL(home.wheel.next, WEFTI_WHEEL_NONE);
		CU_ASSERT_EQUAL(home.wheel.held, 0);
	}
}

static const struct test_case cases[] = {
	TEST(the_root_is_the_earliest_whatever_comes_and_goes),
	TEST(ones_that_are_due_together_leave_in_order),
	TEST(ends_of_levels_are_no_ends),
	TEST(a_wheel_that_has_jumped_ahead_comes_back),
};

TEST_MAIN("sched/timer_wheel", cases)
